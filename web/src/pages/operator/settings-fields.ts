import type { Schemas } from '../../api/client';
import { seconds } from '../../format';

// The market's settings as a form has them: texts, by field.

type Settings = Schemas['Settings'];
type Edit = Schemas['SettingsEdit'];
export type Field = keyof Settings;
export type Edits = Partial<Record<Field, string>>;

export type FieldInfo = { field: Field; label: string; about: string; kind: 'percent' | 'credits' | 'switch' | 'time' };

export const groups: { title: string; fields: FieldInfo[] }[] = [
  {
    title: 'Credits and sign-up',
    fields: [
      { field: 'fee', label: 'Fee', about: 'The share of each payment that the platform keeps, 0 to 50%.', kind: 'percent' },
      {
        field: 'signup_bonus',
        label: 'Sign-up bonus',
        about: 'For each new account, from what the platform has. It pays for jobs only.',
        kind: 'credits',
      },
      { field: 'signup_open', label: 'Anybody may sign up', about: 'Else operators create the accounts.', kind: 'switch' },
    ],
  },
  {
    title: 'Leases',
    fields: [
      { field: 'term', label: 'Term', about: 'How long a lease keeps its price; then it renews or drains.', kind: 'time' },
      { field: 'shortest_term', label: 'Shortest term', about: 'Below this a lease is not worth granting.', kind: 'time' },
      { field: 'drain', label: 'Drain', about: 'The notice before a term ends without renewal.', kind: 'time' },
      { field: 'settle_every', label: 'Settle every', about: 'How often credits go from escrow to the lender.', kind: 'time' },
      { field: 'silence', label: 'Silence', about: 'A machine that is silent for this long loses its leases.', kind: 'time' },
      { field: 'pickup', label: 'Pick-up', about: 'A lease that its machine has not accepted after this time goes to another machine.', kind: 'time' },
      { field: 'setup', label: 'Setup', about: 'A lease must be running after this long.', kind: 'time' },
      { field: 'probes', label: 'Probes', about: 'The share of batch leases that are followed by a job whose result you know.', kind: 'percent' },
    ],
  },
  {
    title: 'Warnings and what is kept',
    fields: [
      { field: 'low_escrow', label: 'Low escrow', about: 'Borrowers are warned when the budget lasts only this long.', kind: 'time' },
      { field: 'history', label: 'Price history', about: 'How long prices are kept, 1 to 400 days.', kind: 'time' },
      { field: 'retention', label: 'Retention', about: 'How long ended jobs, leases and their logs are kept.', kind: 'time' },
    ],
  },
];

const kinds = new Map(groups.flatMap((g) => g.fields.map((f) => [f.field, f.kind] as const)));

export function shown(settings: Settings, edits: Edits, field: Field): string {
  const edited = edits[field];
  if (edited !== undefined) return edited;
  const value = settings[field];
  return kinds.get(field) === 'percent' ? String(Math.round(Number(value) * 1e8) / 1e6) : String(value);
}

export function wrong(field: Field, text: string): string | undefined {
  switch (kinds.get(field)) {
    case 'time':
      return Number.isNaN(seconds(text.replaceAll(' ', ''))) ? 'Write it as 45s, 10m, 1h30m or 7d.' : undefined;
    case 'percent':
      return Number(text) >= 0 && Number(text) <= 50 && text !== '' ? undefined : 'Use 0 to 50.';
    case 'credits':
      return Number(text) >= 0 && text !== '' ? undefined : 'Use 0 or more.';
    default:
      return undefined;
  }
}

// What differs, as the server takes it.
export function editOf(settings: Settings, edits: Edits): Edit {
  const out: Record<string, string | number | boolean> = {};
  for (const [field, text] of Object.entries(edits) as [Field, string][]) {
    if (text === shown(settings, {}, field)) continue;
    const kind = kinds.get(field);
    out[field] =
      kind === 'time'
        ? text.replaceAll(' ', '')
        : kind === 'switch'
          ? text === 'true'
          : kind === 'percent'
            ? Math.round(Number(text) * 1e4) / 1e6
            : Number(text);
  }
  return out as Edit;
}
