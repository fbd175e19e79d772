import { addText, cleanLine, type LogLines, noLines } from './log-lines';

// The logs of several workers as one. A log has no times, so lines stand in the order in which they
// came here; those of one worker are always in their own order.

export type MergedLine = { number: number; lease: string; text: string };
export type Merged = {
  lines: MergedLine[];
  dropped: number;
  pending: Map<string, LogLines>; // Of each worker, the line that is not finished.
  count: Map<string, number>; // Of each worker, its lines so far.
};

export const kMostMerged = 20_000;

export const noMerged = (): Merged => ({ lines: [], dropped: 0, pending: new Map(), count: new Map() });

// `ended`: its last line is whole, too.
export function addPiece(to: Merged, lease: string, text: string, ended: boolean): Merged {
  const log = addText(to.pending.get(lease) ?? noLines, text);
  const open = log.open && !ended ? 1 : 0;
  const whole = log.lines.slice(0, log.lines.length - open);
  if (whole.length === 0 && text === '') return to;
  const before = (to.count.get(lease) ?? 0) + log.dropped;
  const lines = [...to.lines, ...whole.map((line, i) => ({ number: before + i + 1, lease, text: cleanLine(line) }))];
  const extra = Math.max(0, lines.length - kMostMerged);
  return {
    lines: extra > 0 ? lines.slice(extra) : lines,
    dropped: to.dropped + log.dropped + extra,
    pending: new Map(to.pending).set(lease, { lines: log.lines.slice(log.lines.length - open), dropped: 0, open: open > 0 }),
    count: new Map(to.count).set(lease, before + whole.length),
  };
}

export function findMerged(lines: MergedLine[], search: string): MergedLine[] {
  const wanted = search.toLowerCase();
  return wanted === '' ? lines : lines.filter((line) => line.text.toLowerCase().includes(wanted));
}
