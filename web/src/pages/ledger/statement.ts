import type { Schemas } from '../../api/client';

// The lines of a statement as a ledger: what each moved, why, and what was there after it.

export type Line = Schemas['StatementLine'];
export type Row = {
  line: Line;
  reason: string;
  available: number; // After it, bonus included.
  escrow: number; // After it.
};
export type Book = {
  rows: Row[]; // Newest first.
  complete: boolean; // From the account's first movement on.
};

export type Kind = Schemas['LineKind'];
export const kinds: Kind[] = ['grant', 'bonus', 'reserve', 'refund', 'spend', 'earn'];
export const kindWords: Record<Kind, string> = {
  grant: 'credits created for you by the operator',
  bonus: 'a bonus, which pays for jobs only',
  reserve: 'set aside in escrow for a job',
  refund: 'returned from escrow',
  spend: 'paid from escrow for a lease',
  earn: 'earned by a lease of your machine',
};

// The market keeps so many lines of an account at least (market/limits.h).
const kKept = 500;

// Sums are made in millionths of a credit, as the market does, so that nothing is rounded away.
const micro = (amount: number) => Math.round(amount * 1e6);

export function reasonOf({ kind, job, lease, memo }: Line): string {
  const words: Record<Kind, string> = {
    grant: 'granted by the operator',
    bonus: 'bonus',
    reserve: `set aside for job ${job}`,
    refund: `returned from the escrow of job ${job}`,
    spend: `lease ${lease} of job ${job}`,
    earn: `lease ${lease} of your machine, for job ${job}`,
  };
  const why = words[kind] ?? kind;
  return memo && memo !== why ? `${why}: ${memo}` : why;
}

function effectOf({ kind, amount }: Line): { available: number; escrow: number } {
  const n = micro(amount);
  if (kind === 'spend') return { available: 0, escrow: n };
  if (kind === 'reserve' || kind === 'refund') return { available: n, escrow: -n };
  return { available: n, escrow: 0 };
}

// Counted back from what is there now. When all lines are there, it is counted from zero instead:
// the same, unless the balance was asked for a moment before or after the lines.
export function bookOf(lines: Line[], now: { available: number; bonus: number; escrow: number }): Book {
  const sorted = [...lines].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)); // Stable.
  const effects = sorted.map(effectOf);
  const sum = effects.reduce(
    (s, e) => ({ available: s.available + e.available, escrow: s.escrow + e.escrow }),
    { available: 0, escrow: 0 },
  );
  const end = { available: micro(now.available + now.bonus), escrow: micro(now.escrow) };
  const complete = lines.length < kKept || (sum.available === end.available && sum.escrow === end.escrow);
  let at = complete ? sum : end;
  const rows = sorted.map((line, i): Row => {
    const row = { line, reason: reasonOf(line), available: at.available / 1e6, escrow: at.escrow / 1e6 };
    const e = effects[i] ?? { available: 0, escrow: 0 };
    at = { available: at.available - e.available, escrow: at.escrow - e.escrow };
    return row;
  });
  return { rows, complete };
}

export type Filter = { kind: Kind | ''; job: string; text: string };

export function matching(rows: Row[], { kind, job, text }: Filter): Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ line, reason }) => {
    if (kind && line.kind !== kind) return false;
    if (job && line.job !== job) return false;
    const all = `${line.kind} ${reason} ${line.amount}`.toLowerCase();
    return words.every((w) => all.includes(w));
  });
}

// By kind: what is set aside and what is then paid from it would count twice in one sum.
export function sumsOf(rows: Row[]): { kind: Kind; sum: number }[] {
  const sums = new Map<Kind, number>();
  for (const { line } of rows) sums.set(line.kind, (sums.get(line.kind) ?? 0) + micro(line.amount));
  return kinds.flatMap((kind) => {
    const sum = sums.get(kind);
    return sum === undefined ? [] : [{ kind, sum: sum / 1e6 }];
  });
}

// A ledger rounds nothing away.
export function exact(amount: number): string {
  return amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
}

export const signed = (amount: number): string => `${amount > 0 ? '+' : ''}${exact(amount)}`;

export function jobsIn(rows: Row[]): string[] {
  return [...new Set(rows.flatMap((r) => r.line.job ?? []))];
}

// --- The whole ledger

export type Share = { name: string; available: number; bonus: number; escrow: number };

// Me, everybody else together, the platform and the mint: they sum to zero.
export function sharesOf(accounts: Schemas['Balance'][], me: string): { shares: Share[]; sum: number } {
  const others: Share = { name: 'everyone else', available: 0, bonus: 0, escrow: 0 };
  const shares: Share[] = [];
  for (const a of accounts) {
    const kept = a.name === me || a.name === 'platform' || a.name === 'mint';
    if (kept) shares.push(a);
    else {
      others.available += micro(a.available) / 1e6;
      others.bonus += micro(a.bonus) / 1e6;
      others.escrow += micro(a.escrow) / 1e6;
    }
  }
  shares.splice(1, 0, others);
  const sum = accounts.reduce((s, a) => s + micro(a.available) + micro(a.bonus) + micro(a.escrow), 0);
  return { shares, sum: sum / 1e6 };
}

// --- For spreadsheets

// A cell that begins with one of these would be run as a formula.
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(rows: Row[]): string {
  const head = ['at', 'kind', 'amount', 'job', 'lease', 'reason', 'available_after', 'escrow_after'];
  const lines = rows.map(({ line, reason, available, escrow }) =>
    [line.at, line.kind, line.amount, line.job ?? '', line.lease ?? '', reason, available, escrow].map(cell).join(','),
  );
  return `${[head.join(','), ...lines].join('\r\n')}\r\n`;
}

export function fileName(account: string, now: Date): string {
  return `souk-ledger-${account.replace(/[^\w-]+/g, '_')}-${now.toISOString().slice(0, 10)}.csv`;
}
