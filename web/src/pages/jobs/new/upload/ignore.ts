// Which paths of a folder to leave out, as `.soukignore` says it, in the manner of .gitignore: the
// same rules as src/blob/ignore.h.

type Rule = { parts: string[]; foldersOnly: boolean; takeBack: boolean };
export type Ignore = (path: string, isFolder: boolean) => boolean;

// Does the class that begins behind '[' hold c? `at` of the answer is behind its ']'.
function inClass(pattern: string, start: number, c: string): { at: number; hit: boolean } {
  let at = start;
  const negated = pattern[at] === '!' || pattern[at] === '^';
  if (negated) ++at;
  let found = false;
  for (let first = true; at < pattern.length; first = false) {
    if (pattern[at] === ']' && !first) return { at: at + 1, hit: found !== negated };
    if (pattern[at] === '\\' && at + 1 < pattern.length) ++at;
    const low = pattern.charAt(at++);
    let high = low;
    if (at + 1 < pattern.length && pattern[at] === '-' && pattern[at + 1] !== ']') {
      high = pattern.charAt(at + 1);
      at += 2;
    }
    found ||= low <= c && c <= high;
  }
  return { at, hit: false };
}

function oneMatches(pattern: string, at: number, c: string): { at: number; hit: boolean } {
  const p = pattern.charAt(at);
  if (p === '?') return { at: at + 1, hit: true };
  if (p === '[') return inClass(pattern, at + 1, c);
  if (p === '\\' && at + 1 < pattern.length) return { at: at + 2, hit: pattern[at + 1] === c };
  return { at: at + 1, hit: p === c };
}

// Going back only to the last star is enough: an earlier one could only match what it could too.
function nameMatches(pattern: string, name: string): boolean {
  let [p, n, star, resume] = [0, 0, -1, 0];
  while (n < name.length) {
    if (pattern[p] === '*') {
      star = ++p;
      resume = n;
      continue;
    }
    const one = p < pattern.length ? oneMatches(pattern, p, name.charAt(n)) : { at: p, hit: false };
    if (one.hit) {
      p = one.at;
      ++n;
    } else if (star < 0) {
      return false;
    } else {
      p = star;
      n = ++resume;
    }
  }
  while (pattern[p] === '*') ++p;
  return p === pattern.length;
}

// The same one level up: parts for letters, "**" for the star.
function partsMatch(pattern: string[], path: string[]): boolean {
  let [p, n, star, resume] = [0, 0, -1, 0];
  while (n < path.length) {
    const want = pattern[p];
    if (want === '**') {
      if (p + 1 === pattern.length) return true;
      star = ++p;
      resume = n;
    } else if (want !== undefined && nameMatches(want, path[n] ?? '')) {
      ++p;
      ++n;
    } else if (star >= 0) {
      p = star;
      n = ++resume;
    } else {
      return false;
    }
  }
  return p === pattern.length;
}

function ruleOf(text: string): Rule | undefined {
  let line = text.endsWith('\r') ? text.slice(0, -1) : text;
  while (line.endsWith(' ') && !line.endsWith('\\ ')) line = line.slice(0, -1);
  if (line === '' || line.startsWith('#')) return undefined;
  const takeBack = line.startsWith('!');
  if (takeBack) line = line.slice(1);
  const foldersOnly = line.endsWith('/');
  if (foldersOnly) line = line.slice(0, -1);
  const anchored = line.includes('/');
  if (line.startsWith('/')) line = line.slice(1);
  if (line === '') return undefined;
  const parts = anchored ? [] : ['**'];
  for (const part of line.split('/')) if (part !== '**' || parts.at(-1) !== '**') parts.push(part);
  return { parts, foldersOnly, takeBack };
}

export function ignoreOf(text: string): Ignore {
  const rules = text
    .split('\n')
    .flatMap((line) => ruleOf(line) ?? [])
    .reverse();
  return (path, isFolder) => {
    const parts = path.split('/');
    const rule = rules.find((r) => (isFolder || !r.foldersOnly) && partsMatch(r.parts, parts));
    return rule !== undefined && !rule.takeBack;
  };
}

// Nothing inside a folder that is left out can be taken back, as in git.
export function isLeftOut(ignore: Ignore, path: string): boolean {
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
    if (ignore(path.slice(0, slash), true)) return true;
  return ignore(path, false);
}
