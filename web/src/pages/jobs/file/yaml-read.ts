import { plainValue, type Yaml, type YamlMap } from './yaml';
import { add, Flow, YamlError } from './yaml-flow';

// Reads the YAML of job files: maps and lists, in blocks or in brackets, quoted and plain words,
// texts over several lines (|). Whatever else there is in YAML (anchors, tags, folded texts,
// several documents) is an error, and so is a mistake: the server then has the last word.

type Line = { number: number; indent: number; text: string };

// A line without its comment and the spaces around it.
function bare(text: string): string {
  let quote = '';
  for (let i = 0; i < text.length; ++i) {
    const c = text.charAt(i);
    if (quote) {
      if (quote === '"' && c === '\\') ++i;
      else if (c === quote) quote = '';
    } else if ((c === '"' || c === "'") && /(^|[\s,[{:-])$/.test(text.slice(0, i))) {
      quote = c;
    } else if (c === '#' && (i === 0 || /\s/.test(text.charAt(i - 1)))) {
      return text.slice(0, i).trimEnd();
    }
  }
  return text.trimEnd();
}

// "key: rest", or nothing if the text is no member of a map.
function split(text: string): [string, string] | undefined {
  if (/^["']/.test(text)) {
    const flow = new Flow(text, 0);
    const name = flow.quoted();
    const rest = text.slice(flow.at);
    return /^:(\s|$)/.test(rest) ? [name, rest.slice(1).trim()] : undefined;
  }
  const found = /^([^\s[\]{},&*!|>%@`#-][^[\]{}]*?):(\s+|$)/.exec(text);
  return found?.[1] === undefined ? undefined : [found[1], text.slice(found[0].length).trim()];
}

class Reader {
  private at = 0;
  private readonly lines: Line[];

  constructor(private readonly raw: string[]) {
    this.lines = raw.flatMap((text, i) => {
      const body = bare(text);
      if (body.trim() === '') return [];
      if (/^\s*\t/.test(text)) throw new YamlError(i + 1, 'a tab at the start of a line');
      const indent = body.length - body.trimStart().length;
      return [{ number: i + 1, indent, text: body.trimStart() }];
    });
    if (this.lines[0]?.text === '---') this.lines.shift();
  }

  document(): YamlMap {
    if (this.lines.length === 0) return {};
    const out = this.block(0);
    const left = this.lines[this.at];
    if (left) throw new YamlError(left.number, 'its indentation does not match the lines above');
    if (typeof out !== 'object' || out === null || Array.isArray(out))
      throw new YamlError(1, 'keys are expected');
    return out as YamlMap;
  }

  private block(least: number): Yaml {
    const first = this.lines[this.at];
    if (!first || first.indent < least) return null;
    if (/^-(\s|$)/.test(first.text)) return this.list(first.indent);
    if (split(first.text)) return this.map(first.indent);
    ++this.at;
    return this.inline(first.text, first, first.indent);
  }

  private map(indent: number): YamlMap {
    const out: YamlMap = {};
    for (let line = this.lines[this.at]; line && line.indent === indent; line = this.lines[this.at]) {
      const found = split(line.text);
      if (!found) throw new YamlError(line.number, `'${line.text.slice(0, 40)}' is not a key with a value`);
      ++this.at;
      add(out, found[0], this.member(found[1], line, indent), line.number);
    }
    return out;
  }

  // What follows "key:". A list may stand as far left as its key.
  private member(rest: string, line: Line, indent: number): Yaml {
    if (rest !== '') return this.inline(rest, line, indent);
    const next = this.lines[this.at];
    if (next && next.indent === indent && /^-(\s|$)/.test(next.text)) return this.list(indent);
    return this.block(indent + 1);
  }

  private list(indent: number): Yaml[] {
    const out: Yaml[] = [];
    for (let line = this.lines[this.at]; line && line.indent === indent; line = this.lines[this.at]) {
      if (!/^-(\s|$)/.test(line.text)) break;
      const rest = line.text.slice(1).trimStart();
      const inner = indent + line.text.length - rest.length;
      if (rest === '') {
        ++this.at;
        out.push(this.block(indent + 1));
      } else if (/^-\s/.test(rest) || split(rest)) {
        // A list or map that begins behind the dash: as if the dash were a space.
        this.lines[this.at] = { number: line.number, indent: inner, text: rest };
        out.push(this.block(inner));
      } else {
        ++this.at;
        out.push(this.inline(rest, line, indent));
      }
    }
    return out;
  }

  private inline(text: string, line: Line, indent: number): Yaml {
    const bar = /^\|([-+]?)$/.exec(text);
    if (bar) return this.lined(bar[1] ?? '', line, indent);
    if (/^[&*!|>%@`]/.test(text))
      throw new YamlError(line.number, `'${text.charAt(0)}' is YAML that this form cannot read`);
    if (!/^[[{"']/.test(text)) {
      const next = this.lines[this.at];
      if (next && next.indent > indent)
        throw new YamlError(next.number, 'the form cannot read a value over several lines');
      if (/:(\s|$)/.test(text)) throw new YamlError(line.number, 'a key inside a value');
      return plainValue(text);
    }
    // Brackets may go on over lines.
    let all = text;
    for (let tries = 0; ; ++tries) {
      const flow = new Flow(all, line.number);
      try {
        const out = flow.value();
        flow.space();
        if (flow.at < all.length) flow.fail(`'${all.slice(flow.at, flow.at + 20)}' is not expected here`);
        return out;
      } catch (error) {
        const next = this.lines[this.at];
        if (!next || next.indent <= indent || flow.at < all.length || tries > 1_000) throw error;
        all += ` ${next.text}`;
        ++this.at;
      }
    }
  }

  // A text over several lines, with what looks like a comment in it.
  private lined(chomp: string, line: Line, indent: number): string {
    const body: string[] = [];
    let i = line.number;
    let pad = -1;
    for (; i < this.raw.length; ++i) {
      const text = (this.raw[i] ?? '').replace(/\r$/, '');
      const in_ = text.length - text.trimStart().length;
      if (text.trim() === '') {
        body.push('');
        continue;
      }
      if (in_ <= indent) break;
      if (pad < 0) pad = in_;
      if (in_ < pad) throw new YamlError(i + 1, 'it is indented less than the first line of the text');
      body.push(text.slice(pad));
    }
    while (this.at < this.lines.length && (this.lines[this.at]?.number ?? 0) <= i) ++this.at;
    let blank = 0;
    while (body.length > 0 && body.at(-1) === '') {
      body.pop();
      ++blank;
    }
    if (body.length === 0) return '';
    const end = chomp === '-' ? '' : chomp === '+' ? '\n'.repeat(blank + 1) : '\n';
    return body.join('\n') + end;
  }
}

export { YamlError };

export function readYaml(text: string): YamlMap {
  return new Reader(text.replaceAll('\r\n', '\n').split('\n')).document();
}
