import { plainValue, type Yaml, type YamlMap } from './yaml';

// Values of YAML within a line: in brackets, in quotes, or plain.

export class YamlError extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(`line ${line}: ${message}`);
    this.name = 'YamlError';
  }
}

// Reads one value in brackets, quotes or plain from a text, and says where it ended.
export class Flow {
  at = 0;
  constructor(
    readonly text: string,
    readonly line: number,
  ) {}

  fail(message: string): never {
    throw new YamlError(this.line, message);
  }
  space() {
    while (/\s/.test(this.text.charAt(this.at))) ++this.at;
  }
  value(): Yaml {
    this.space();
    const c = this.text.charAt(this.at);
    if (c === '[') return this.list();
    if (c === '{') return this.map();
    if (c === '"' || c === "'") return this.quoted();
    if (/[&*!|>%@`]/.test(c)) this.fail(`'${c}' is YAML that this form cannot read`);
    const start = this.at;
    while (this.at < this.text.length && !/[,[\]{}]/.test(this.text.charAt(this.at))) {
      if (this.text.charAt(this.at) === ':' && /[\s,[\]{}]|^$/.test(this.text.charAt(this.at + 1))) break;
      ++this.at;
    }
    return plainValue(this.text.slice(start, this.at).trim());
  }
  quoted(): string {
    const quote = this.text.charAt(this.at);
    const start = this.at;
    for (++this.at; this.at < this.text.length; ++this.at) {
      const c = this.text.charAt(this.at);
      if (quote === '"' && c === '\\') ++this.at;
      else if (c === quote && quote === "'" && this.text.charAt(this.at + 1) === "'") ++this.at;
      else if (c === quote) break;
    }
    if (this.at >= this.text.length) this.fail('a quote is not closed');
    const inside = this.text.slice(start + 1, this.at++);
    if (quote === "'") return inside.replaceAll("''", "'");
    try {
      return JSON.parse(`"${inside}"`) as string;
    } catch {
      return this.fail('the form cannot read this escape in a quoted text');
    }
  }
  list(): Yaml[] {
    const out: Yaml[] = [];
    for (++this.at; ;) {
      this.space();
      if (this.text.charAt(this.at) === ']') return (++this.at, out);
      out.push(this.value());
      this.next(']');
    }
  }
  map(): YamlMap {
    const out: YamlMap = {};
    for (++this.at; ;) {
      this.space();
      if (this.text.charAt(this.at) === '}') return (++this.at, out);
      const name = this.value();
      this.space();
      let value: Yaml = null;
      if (this.text.charAt(this.at) === ':') {
        ++this.at;
        value = this.value();
      }
      add(out, name, value, this.line);
      this.next('}');
    }
  }
  next(end: string) {
    this.space();
    const c = this.text.charAt(this.at);
    if (c === ',') ++this.at;
    else if (c !== end) this.fail(c === '' ? `'${end}' is missing` : `'${c}' is not expected here`);
  }
}

export function add(to: YamlMap, name: Yaml, value: Yaml, line: number) {
  const key =
    typeof name === 'string'
      ? name
      : typeof name === 'number' || typeof name === 'boolean'
        ? String(name)
        : '';
  if (key === '') throw new YamlError(line, 'a key is expected');
  if (Object.hasOwn(to, key)) throw new YamlError(line, `the key '${key}' occurs twice`);
  to[key] = value;
}
