// What a program printed, as lines, with a bound: of very long logs the end is kept.

export type LogLines = {
  lines: string[]; // The last may go on.
  dropped: number; // Lines before the first that are not kept.
  open: boolean; // Does the last line go on?
};

export const kMostLines = 20_000;
const kLongestLine = 2_000; // Of a line that is shown.

export const noLines: LogLines = { lines: [], dropped: 0, open: false };

// A progress bar writes the same line again and again, with a carriage return between: what stays
// is its last state, as on a terminal. Colours are left out.
export function cleanLine(line: string): string {
  const end = line.endsWith('\r') ? line.slice(0, -1) : line;
  const shown = end.slice(end.lastIndexOf('\r') + 1);
  const plain = shown.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g'), '');
  return plain.length > kLongestLine ? `${plain.slice(0, kLongestLine)}…` : plain;
}

export function addText(to: LogLines, text: string): LogLines {
  if (text === '') return to;
  const pieces = text.split('\n');
  const lines = [...to.lines];
  if (to.open) pieces[0] = (lines.pop() ?? '') + (pieces[0] ?? '');
  const open = pieces.at(-1) !== '';
  if (!open) pieces.pop();
  for (const piece of pieces) lines.push(piece);
  const extra = Math.max(0, lines.length - kMostLines);
  return { lines: extra > 0 ? lines.slice(extra) : lines, dropped: to.dropped + extra, open };
}

export type FoundLine = { number: number; text: string };

// The lines that hold the search, or all of them; numbered from 1 as the program printed them.
export function findLines(log: LogLines, search: string): FoundLine[] {
  const wanted = search.toLowerCase();
  const out: FoundLine[] = [];
  log.lines.forEach((line, i) => {
    const text = cleanLine(line);
    if (wanted === '' || text.toLowerCase().includes(wanted)) out.push({ number: log.dropped + i + 1, text });
  });
  return out;
}

// Where the search occurs in a line: pieces in order, those that match marked.
export function marked(text: string, search: string): { text: string; hit: boolean }[] {
  if (search === '') return [{ text, hit: false }];
  const lower = text.toLowerCase();
  const wanted = search.toLowerCase();
  const out: { text: string; hit: boolean }[] = [];
  let at = 0;
  for (let found = lower.indexOf(wanted); found >= 0; found = lower.indexOf(wanted, at)) {
    if (found > at) out.push({ text: text.slice(at, found), hit: false });
    out.push({ text: text.slice(found, found + wanted.length), hit: true });
    at = found + wanted.length;
  }
  if (at < text.length) out.push({ text: text.slice(at), hit: false });
  return out;
}
