// The part of YAML that job files use: what both the writer and the reader here know. The server
// reads all of it; a file that this reader does not follow is sent as it is.

export type YamlMap = { [key: string]: Yaml };
export type Yaml = string | number | boolean | null | Plain | Yaml[] | YamlMap;

// A number that would be spelled otherwise after a round trip, such as 0.10: kept as written.
export class Plain {
  constructor(readonly text: string) {}
}

export const isMap = (y: Yaml | undefined): y is YamlMap =>
  typeof y === 'object' && y !== null && !Array.isArray(y) && !(y instanceof Plain);

// A scalar as it is written.
export function textOf(y: Yaml | undefined): string | undefined {
  if (y instanceof Plain) return y.text;
  if (typeof y === 'string') return y;
  return typeof y === 'number' || typeof y === 'boolean' ? String(y) : undefined;
}

export function numberOf(y: Yaml | undefined): number | undefined {
  const n = y instanceof Plain ? Number(y.text) : y;
  return typeof n === 'number' && Number.isFinite(n) ? n : undefined;
}

// What an unquoted word means.
export function plainValue(text: string): Yaml {
  if (text === '' || text === '~' || /^null$/i.test(text)) return null;
  if (/^true$/i.test(text)) return true;
  if (/^false$/i.test(text)) return false;
  if (
    /^[-+]?(\d[\d_]*)?\.?\d+(e[-+]?\d+)?$/i.test(text) ||
    /^0[xo][\da-f]+$/i.test(text) ||
    /^[-+]?\d+\.$/.test(text)
  ) {
    const n = Number(text);
    return Number.isFinite(n) && String(n) === text ? n : new Plain(text);
  }
  return text;
}

const kWidth = 96; // Of a line, before a map is written over several.

function plainEnough(text: string, inFlow: boolean): boolean {
  if (text === '' || text !== text.trim() || /[\x00-\x1f\x7f]/.test(text)) return false;
  if (/^[-?:,[\]{}#&*!|>'"%@`]/.test(text) && !/^-[\w./]/.test(text)) return false;
  if (/: |:$| #/.test(text) || (inFlow && /[,[\]{}:]/.test(text))) return false;
  return typeof plainValue(text) === 'string';
}

function scalar(y: Exclude<Yaml, Yaml[] | YamlMap>, inFlow: boolean): string {
  if (y instanceof Plain) return y.text;
  if (typeof y !== 'string') return String(y);
  return plainEnough(y, inFlow) ? y : JSON.stringify(y);
}

function key(name: string): string {
  return plainEnough(name, true) ? name : JSON.stringify(name);
}

function flow(y: Yaml): string {
  if (Array.isArray(y)) return `[${y.map(flow).join(', ')}]`;
  if (isMap(y))
    return `{${Object.entries(y)
      .map(([k, v]) => `${key(k)}: ${flow(v)}`)
      .join(', ')}}`;
  return scalar(y, true);
}

const hasLines = (y: Yaml): boolean =>
  typeof y === 'string'
    ? y.includes('\n')
    : Array.isArray(y)
      ? y.some(hasLines)
      : isMap(y) && Object.values(y).some(hasLines);

function lines(text: string, pad: string): string {
  // How the text ends decides the mark: without a line break, with one, with several.
  const mark = !text.endsWith('\n') ? '|-' : text.endsWith('\n\n') || text === '\n' ? '|+' : '|';
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  // A text that begins with a space would be taken for more indentation.
  if (/^\s/.test(text) || /[\x00-\x08\x0b-\x1f\x7f]/.test(text)) return ` ${JSON.stringify(text)}\n`;
  return ` ${mark}\n${body
    .split('\n')
    .map((line) => (line === '' ? '' : pad + line))
    .join('\n')}\n`;
}

function member(name: string, y: Yaml, pad: string): string {
  const start = `${pad}${key(name)}:`;
  if (typeof y === 'string' && y.includes('\n')) return start + lines(y, `${pad}  `);
  const short = typeof y === 'object' && y !== null && !(y instanceof Plain) ? flow(y) : scalar(y, false);
  if (!hasLines(y) && (start.length + short.length < kWidth || !isMap(y))) return `${start} ${short}\n`;
  return isMap(y) ? `${start}\n${writeYaml(y, `${pad}  `)}` : `${start} ${flow(y)}\n`;
}

export function writeYaml(map: YamlMap, pad = ''): string {
  return Object.entries(map)
    .map(([name, y]) => member(name, y, pad))
    .join('');
}
