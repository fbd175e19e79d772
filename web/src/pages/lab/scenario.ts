// What a form needs to know of a scenario's YAML, and changes in place that leave the rest of the
// text, its comments too, as it is. The server reads the file for real and says what is wrong.

export type Population = { side: 'lenders' | 'borrowers'; name: string; count: number; at: number; length: number };

export type ScenarioFacts = {
  name: string;
  world: string;
  horizon: string;
  seeds: number;
  mechanisms: string[]; // As the API takes them: "posted:price=0.4".
  populations: Population[]; // Those that say how many they are.
};

type Line = { text: string; at: number };

function linesOf(text: string): Line[] {
  let at = 0;
  return text.split('\n').map((line) => {
    const out = { text: line, at };
    at += line.length + 1;
    return out;
  });
}

const bare = (text: string) => text.replace(/\s+#.*$/, '').trim().replace(/^(['"])(.*)\1$/, '$2');

// The value of a key that begins a line, and where it is.
function topLevel(text: string, key: string): { value: string; at: number; length: number } | undefined {
  const found = new RegExp(`^${key}:[ \\t]*`, 'm').exec(text);
  if (!found) return undefined;
  const at = found.index + found[0].length;
  const rest = /^[^\n]*/.exec(text.slice(at))?.[0] ?? '';
  const value = rest.replace(/\s+#.*$/, '').trimEnd();
  return { value: bare(rest), at, length: value.length };
}

// The lines below a key that begins a line, up to the next such key.
function section(lines: Line[], key: string): Line[] {
  const begin = lines.findIndex((l) => new RegExp(`^${key}:`).test(l.text));
  if (begin < 0) return [];
  const size = lines.slice(begin + 1).findIndex((l) => /^[^\s#-]/.test(l.text));
  return lines.slice(begin + 1, size < 0 ? undefined : begin + 1 + size);
}

// Splits at commas that are not inside brackets.
function items(list: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i <= list.length; ++i) {
    const c = list[i];
    if (c === '[' || c === '{') ++depth;
    if (c === ']' || c === '}') --depth;
    if (i === list.length || (c === ',' && depth === 0)) {
      out.push(list.slice(from, i).trim());
      from = i + 1;
    }
  }
  return out.filter((item) => item !== '');
}

// "{name: posted, params: {price: 0.4}}" -> "posted:price=0.4".
function mechanism(text: string): string {
  if (!text.startsWith('{')) return bare(text);
  const name = bare(/name:\s*([^,{}]+)/.exec(text)?.[1] ?? '');
  const params = /params:\s*\{([^}]*)\}/.exec(text)?.[1] ?? '';
  const pairs = items(params).map((p) => {
    const [key = '', value = ''] = p.split(':');
    return `${bare(key)}=${bare(value)}`;
  });
  return pairs.length > 0 ? `${name}:${pairs.join(';')}` : name;
}

function mechanisms(text: string, lines: Line[]): string[] {
  const inline = topLevel(text, 'mechanisms')?.value ?? '';
  if (inline.startsWith('[')) return items(inline.replace(/^\[|\]$/g, '')).map(mechanism);
  if (inline !== '') return [mechanism(inline)];
  return section(lines, 'mechanisms')
    .map((l) => /^\s*-\s+(.*)$/.exec(l.text)?.[1])
    .filter((item) => item !== undefined)
    .map((item) => mechanism(bare(item)));
}

function seeds(text: string): number {
  const value = topLevel(text, 'seeds')?.value ?? '1';
  return value.startsWith('[') ? items(value.replace(/^\[|\]$/g, '')).length : Number(value) || 1;
}

function populations(lines: Line[], side: Population['side']): Population[] {
  const out: Population[] = [];
  let name = '';
  for (const { text, at } of section(lines, side)) {
    if (/^\s*-\s/.test(text)) name = '';
    name = bare(/(?:^\s*-?\s*|[{,]\s*)name:\s*([^,}#]+)/.exec(text)?.[1] ?? name);
    const count = /(^\s*-?\s*|[{,]\s*)count:\s*(\d+)/.exec(text);
    if (!count) continue;
    const digits = count[2] ?? '';
    out.push({
      side,
      name,
      count: Number(digits),
      at: at + count.index + count[0].length - digits.length,
      length: digits.length,
    });
  }
  return out.map((p, i) => ({ ...p, name: p.name || `${side} ${i + 1}` }));
}

export function factsOf(text: string): ScenarioFacts {
  const lines = linesOf(text);
  return {
    name: topLevel(text, 'name')?.value ?? '',
    world: topLevel(text, 'world')?.value ?? '',
    horizon: topLevel(text, 'horizon')?.value ?? '',
    seeds: seeds(text),
    mechanisms: mechanisms(text, lines),
    populations: [...populations(lines, 'lenders'), ...populations(lines, 'borrowers')],
  };
}

// "posted(price=0.4)", as a run names what it ran under -> "posted:price=0.4".
function asAsked(label: string): string {
  const [, name, params] = /^([^(]+)\((.*)\)$/.exec(label) ?? [];
  return name && params ? `${name}:${params.replaceAll(', ', ';')}` : label;
}

const same = (a: string[], b: string[]) => a.length === b.length && a.every((x, i) => x === b[i]);

// A scenario and what is changed in it. What is absent is as the scenario has it.
export type Draft = { example: string | null; text: string; mechanisms?: string[]; seeds?: number };
export const noDraft: Draft = { example: null, text: '' };

// The form as it was when this was run.
export function draftOf(text: string, run: { mechanisms?: string[]; seeds: number }): Draft {
  const facts = factsOf(text);
  const mechanisms = (run.mechanisms ?? []).map(asAsked);
  return {
    example: null,
    text,
    ...(same(mechanisms, facts.mechanisms) ? {} : { mechanisms }),
    ...(run.seeds === facts.seeds ? {} : { seeds: run.seeds }),
  };
}

const replaced = (text: string, at: number, length: number, by: string) =>
  text.slice(0, at) + by + text.slice(at + length);

export function withCount(text: string, population: Population, count: number): string {
  return replaced(text, population.at, population.length, String(Math.max(0, Math.round(count))));
}

export function withHorizon(text: string, horizon: string): string {
  const found = topLevel(text, 'horizon');
  return found ? replaced(text, found.at, found.length, horizon) : text;
}
