// What the market says of its mechanisms in the words of economists, in everybody's words; and the
// parameters that each of them takes.

export type Property = {
  text: string;
  kind: 'good' | 'limit' | 'plain'; // A promise, what is not promised, or something to know.
};

const kProperties: [RegExp, Property['kind'], string | ((rest: string) => string)][] = [
  [/^IR$/, 'good', 'Nobody loses by taking part.'],
  [/^not IC$/, 'limit', 'Naming a price other than your true one can pay off.'],
  [/^IC and Sybil-proof for (.+)$/, 'good', (who) => `Telling the truth, under one name, is best for ${who}.`],
  [/^not IC in prices and units$/, 'limit', 'Naming a lower price, or asking for more than you need, can pay off.'],
  [/^IC in prices$/, 'good', 'Naming your true price is best, whatever others do.'],
  [/^IC in price and units$/, 'good', 'Naming your true price and number of slots is best, whatever others do.'],
  [/^IC for who (.+)$/, 'good', (who) => `Naming your true price is best for who ${who}.`],
  [/^IC for (.+)$/, 'good', (who) => `Naming their true price is best for ${who}.`],
  [/^IC$/, 'good', 'Naming your true price is best, whatever others do.'],
  [/^strong budget balance(?: \((.+)\))?$/, 'good', (but) =>
    `Lenders get all that borrowers pay${but ? ` (${but})` : ', less the fee'}.`],
  [/^weak budget balance$/, 'plain', 'Borrowers may pay more than lenders get; the market keeps the rest.'],
  [/^never a deficit$/, 'good', 'The market never has to add credits.'],
  [/^runs a deficit, so only for the lab$/, 'limit', 'Lenders can get more than borrowers pay: only for the lab.'],
  [/^efficient$/, 'good', 'Slots go where they are worth most.'],
  [/^efficient if (.+)$/, 'good', (when) => `Slots go where they are worth most, if all are ${when}.`],
  [/^efficient in large markets$/, 'good', 'In large markets slots go where they are worth most.'],
  [/^efficient (as far as|up to) (.+)$/, 'plain', (rest) => `Close to the best possible use of slots, ${rest}.`],
  [/^Pareto efficient$/, 'good', 'Nobody could have more without another having less.'],
  [/^not efficient$/, 'limit', 'Slots do not always go where they are worth most.'],
  [/^((?:at most )?one deal lost .+)$/, 'plain', (what) => `Near the best possible use of slots: ${what}.`],
  [/^Sybil-proof within a round$/, 'good', 'Trading under several names gains nothing within a round.'],
  [/^Sybil-proof on one side$/, 'plain', 'Trading under several names gains nothing, on one side.'],
  [/^not Sybil-proof$/, 'limit', 'Trading under several names can pay off.'],
  [/^fair$/, 'good', 'Everybody gets an equal share, as far as they want it.'],
  [/^fair in what slots do for each job$/, 'good', 'Everybody is served alike, measured by what slots do for each job.'],
  [/^nearly as fair as las$/, 'good', 'Everybody is served nearly alike, measured by what slots do for each job.'],
  [/^fair in time to finish$/, 'good', 'Nobody waits much longer than with an equal part for itself.'],
  [/^not fair$/, 'limit', 'Some jobs may wait for long.'],
  [/^rates (?:and work )?are measured, not declared$/, 'good', 'How fast jobs run is measured: nobody can misstate it.'],
  [/^no gain from asking for more than one needs$/, 'good', 'Asking for more than you need gains nothing.'],
  [/^no prices$/, 'plain', 'Prices do not decide who gets slots.'],
  [/^no gangs$/, 'limit', 'Jobs that need several workers at once cannot take part.'],
  [/^(small books, )?only for the lab$/, 'limit', 'Only for the lab.'],
];

export function propertiesOf(text: string): Property[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      for (const [pattern, kind, words] of kProperties) {
        const found = pattern.exec(part);
        if (!found) continue;
        const rest = found.slice(1).filter((x) => x !== undefined).join(' ');
        return { kind, text: typeof words === 'string' ? words : words(rest) };
      }
      return { kind: 'plain', text: `${part}.` };
    });
}

// Rules whose outcomes a market cannot settle.
export const onlyForLab = (properties: string) => /only for the lab/.test(properties);
export const truthful = (properties: string) => /(^|; )IC\b/.test(properties);

export type Parameter = {
  name: string;
  label: string;
  about: string;
  choices?: string[];
  first?: string; // What a form begins with, where leaving it out would not do.
  needed?: boolean;
};

const kSlotPrices: Parameter[] = [
  {
    name: 'prices',
    label: 'Prices',
    about: 'Dual: slots that others are after cost more, around the suggested price. Reserve: what lenders ask.',
    choices: ['dual', 'reserve'],
  },
];

const kParameters: Record<string, Parameter[]> = {
  posted: [{ name: 'price', label: 'Price', about: 'Credits per slot-hour. Empty: the suggested price.' }],
  'k-double': [
    {
      name: 'kappa',
      label: 'Kappa',
      about: 'Where the price lies between the lowest and the highest possible one, 0 to 1. Empty: 0.5, half way.',
    },
  ],
  sbba: [
    {
      name: 'first',
      label: 'Who sets the price first',
      about: 'Sellers: the mirror image of the usual rule.',
      choices: ['buyers', 'sellers'],
    },
  ],
  muda: [
    {
      name: 'long',
      label: 'The longer side',
      about: 'By lottery, or by Vickrey fees, which only the lab can settle.',
      choices: ['lottery', 'vickrey'],
      first: 'lottery',
    },
  ],
  tpd: [{ name: 'r', label: 'Threshold', about: 'Credits per slot-hour. Empty: the suggested price.' }],
  'primal-dual': [
    { name: 'low', label: 'Lowest price', about: 'When nothing is in use. Empty: a quarter of the suggested price.' },
    { name: 'high', label: 'Highest price', about: 'When all is in use. Empty: four times the suggested price.' },
  ],
  karma: [
    { name: 'alpha', label: 'Alpha', about: 'The share of a fair share that is guaranteed, 0 to 1. Empty: 0.5.' },
    { name: 'credits', label: 'Karma to begin with', about: 'Of each account, in slots.' },
  ],
  las: kSlotPrices,
  ftf: kSlotPrices,
  makespan: kSlotPrices,
  'cost-slo': kSlotPrices,
  hadar: kSlotPrices,
  'price-discovery': kSlotPrices,
  greedy: [{ name: 'l', label: 'L', about: 'Bids are ranked by limit / size^l. Empty: 0.5.' }],
  external: [
    {
      name: 'program',
      label: 'Program',
      about: 'A file in the folder that the server was started with (--mechanisms).',
      needed: true,
    },
    { name: 'fallback', label: 'Fallback', about: 'Clears when the program misbehaves. Empty: k-double.' },
    { name: 'timeout_ms', label: 'Timeout in ms', about: 'For one answer. Empty: 250.' },
    { name: 'start_ms', label: 'Start in ms', about: 'More for the first answer. Empty: 5000.' },
  ],
};

export const parametersOf = (mechanism: string): Parameter[] => kParameters[mechanism] ?? [];

export function firstParams(mechanism: string): Record<string, string> {
  return Object.fromEntries(
    parametersOf(mechanism).flatMap((p) => (p.first === undefined ? [] : [[p.name, p.first]])),
  );
}

// "k-double (kappa 0.25)", for people; "k-double:kappa=0.25", for the lab.
export function described(name: string, params: Record<string, string> = {}): string {
  const pairs = Object.entries(params).map(([key, value]) => `${key} ${value}`);
  return pairs.length === 0 ? name : `${name} (${pairs.join(', ')})`;
}
export function spelled(name: string, params: Record<string, string> = {}): string {
  const pairs = Object.entries(params).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? name : `${name}:${pairs.join(';')}`;
}

// Without what was left empty.
export function given(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params)
      .map(([key, value]) => [key, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}
