// How many letters must be changed, added or left out to make `b` of `a`.
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let j = 1; j <= b.length; ++j)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

// The names most like `word`, the nearest first; those that share less than half their letters are
// left out.
export function near(word: string, names: string[], most = 3): string[] {
  const wanted = word.toLowerCase().slice(0, 100);
  const scored = names.map((name) => {
    const d = distance(wanted, name.toLowerCase());
    const begins = wanted.length > 2 && (name.startsWith(wanted) || wanted.startsWith(name));
    return { name, d: begins ? Math.min(d, 1) : d };
  });
  return scored
    .filter(({ name, d }) => d <= Math.max(name.length, wanted.length) / 2)
    .sort((a, b) => a.d - b.d)
    .slice(0, most)
    .map(({ name }) => name);
}
