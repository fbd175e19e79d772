import { Marked } from 'marked';

// The guides of docs/, built into the console so that they are there offline and fit the server.

const files = import.meta.glob<string>('../../../../docs/*.md', { query: '?raw', import: 'default' });

export const guides = [
  { name: 'lending', title: 'Lending a machine' },
  { name: 'borrowing', title: 'Borrowing: job files' },
  { name: 'training', title: 'Training a model' },
  { name: 'planning', title: 'Plans and forecasts' },
  { name: 'pricing', title: 'How prices are made' },
  { name: 'mechanisms', title: 'Mechanisms' },
  { name: 'lab', title: 'The lab' },
  { name: 'scheduling', title: 'Scheduling many jobs' },
  { name: 'operating', title: 'Operating a market' },
  { name: 'agents', title: 'For programs and AI agents' },
  { name: 'worker-protocol', title: 'Writing a trainer' },
];

export async function textOf(name: string): Promise<string> {
  const load = files[`../../../../docs/${name}.md`];
  if (!load) throw new Error(`there is no guide '${name}'`);
  return load();
}

// As headings are linked to: "As a service" -> "as-a-service".
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s+/g, '-');
}

// Where a link of a guide leads in the console; nothing for what is only in the source.
export function hrefOf(href: string): string | undefined {
  if (href.startsWith('#')) return href;
  const guide = /^([\w-]+)\.md(#[\w-]*)?$/.exec(href);
  return guide && guides.some((g) => g.name === guide[1]) ? `/help/${guide[1]}${guide[2] ?? ''}` : undefined;
}

const escape = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const marked = new Marked({
  renderer: {
    heading({ tokens, depth }) {
      const inner = this.parser.parseInline(tokens);
      const id = slug(inner.replace(/<[^>]*>/g, ''));
      return `<h${depth} id="${id}">${inner}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      const to = hrefOf(href);
      return to ? `<a href="${escape(to)}">${inner}</a>` : inner;
    },
    // Comments mark what is generated.
    html: ({ text }) => (text.startsWith('<!--') ? '' : escape(text)),
    image: ({ text }) => escape(text),
    // Wide ones scroll by themselves.
    code: ({ text }) => `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`,
  },
  hooks: {
    postprocess: (html) =>
      html.replace(/<table>/g, '<div tabindex="0" class="wide"><table>').replace(/<\/table>/g, '</table></div>'),
  },
});

// A guide as its title and HTML. Its text is ours; what looks like HTML in it is shown as text.
export function render(markdown: string): { title: string; html: string } {
  const [, title = '', rest = markdown] = /^# (.*)\n([\s\S]*)$/.exec(markdown) ?? [];
  return { title, html: marked.parse(rest, { async: false }) };
}
