// The kinds of jobs as this console shows them: a row each, as in src/job/kinds.cc. Nobody else compares
// their names. A kind that is not here is shown by its name, as a job that runs a program.
type KindRow = {
  label: string; // Of a folder of one's own that is for this.
  // It has epochs, metrics and a model, and may move between slot classes.
  trains: boolean;
  // What a form begins with when this is chosen.
  begin: { workdir: string; packages?: string[] };
};

const kRows = {
  train: { label: 'Train with a script', trains: true, begin: { workdir: '' } },
  batch: { label: 'Run a program', trains: false, begin: { workdir: '.', packages: [] } },
} satisfies Record<string, KindRow>;

export type Kind = keyof typeof kRows;
export const kKinds: Record<Kind, KindRow> = kRows;
export const kPlainKind: Kind = 'batch'; // Of a job file that names none.

export const isKind = (name: unknown): name is Kind => typeof name === 'string' && Object.hasOwn(kRows, name);
// Its work is done by trials, which are jobs of another kind. Forms show it as that, and keep the rest.
export const kSweep = 'sweep';
export const sweeps = (name: unknown): boolean => name === kSweep;
export const trains = (name: string): boolean => isKind(name) && kKinds[name].trains;
