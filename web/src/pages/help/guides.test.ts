import { expect, test } from 'vitest';
import { guides, hrefOf, render, slug, textOf } from './guides';

test('every guide is there and has a title', async () => {
  for (const { name } of guides) {
    const { title, html } = render(await textOf(name));
    expect(title, name).not.toBe('');
    expect(html.length, name).toBeGreaterThan(500);
  }
});

test('links between guides stay in the console, and lead to headings that exist', async () => {
  expect(hrefOf('lending.md')).toBe('/help/lending');
  expect(hrefOf('lending.md#as-a-service')).toBe('/help/lending#as-a-service');
  expect(hrefOf('#windows')).toBe('#windows');
  expect(hrefOf('../src/market/types.h')).toBeUndefined();
  expect(hrefOf('javascript:alert(1)')).toBeUndefined();
  for (const { name } of guides) {
    const text = await textOf(name);
    for (const [, href = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [to, heading] = (hrefOf(href) ?? '').split('#');
      if (!heading) continue;
      const target = to ? await textOf(to.replace('/help/', '')) : text;
      const headings = [...target.matchAll(/^#+ (.*)$/gm)].map((m) => slug((m[1] ?? '').replace(/`/g, '')));
      expect(headings, `${href} in ${name}`).toContain(heading);
    }
  }
});

test('HTML in a text is text', () => {
  const { html } = render('# T\n\n<script>alert(1)</script>\n\n`<b>` and <i>x</i>\n');
  expect(html).not.toContain('<script');
  expect(html).not.toContain('<i>');
  expect(html).toContain('<code>&lt;b&gt;</code>');
});

test('what marks a generated table is not shown, and ends the table', () => {
  const { html } = render('# T\n\n<!-- generated: x -->\n| a |\n| --- |\n| 1 |\n<!-- end -->\n\nText.\n');
  expect(html).toContain('<td>1</td>');
  expect(html).not.toMatch(/generated|end --/);
});
