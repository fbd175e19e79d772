import { expect, test } from 'vitest';
import { Plain, writeYaml, type YamlMap } from './yaml';
import { readYaml, YamlError } from './yaml-read';

test('job files are written as people write them', () => {
  expect(
    writeYaml({
      name: 'mnist',
      model: { name: 'mlp', hidden: 64 },
      target: { accuracy: 0.98 },
      workers: '1..4',
      outputs: ['model.pt', 'metrics-?.json', 'plots/*.png'],
      run: 'python3 train.py\necho done\n',
      price: { limit: 2, budget: 2.5 },
    }),
  ).toBe(`name: mnist
model: {name: mlp, hidden: 64}
target: {accuracy: 0.98}
workers: 1..4
outputs: [model.pt, metrics-?.json, plots/*.png]
run: |
  python3 train.py
  echo done
price: {limit: 2, budget: 2.5}
`);
});

test.each<[string, YamlMap]>([
  [
    'words that look like something else',
    { a: 'true', b: '12', c: 'null', d: '1.50', e: '~', f: '', g: '0x10', h: '1_000', i: '.5' },
  ],
  [
    'what YAML would take for its own',
    {
      a: 'x: y',
      b: '# no',
      c: 'a #b',
      d: '- x',
      e: '*.pyc',
      f: '@x',
      g: 'end:',
      h: ' space ',
      i: '{',
      j: '"q"',
      k: "it's",
    },
  ],
  ['lists and maps in each other', { a: [1, [2, 'x'], { b: ['c, d', 'e: f'] }], m: { n: { o: {} } }, e: [] }],
  [
    'texts over several lines',
    { a: 'x\n', b: 'x\ny', c: 'x\n\ny\n\n', d: ' begins with a space\nx\n', e: '\n', f: 'x # y\n  z: 1\n' },
  ],
  [
    'maps too wide for a line',
    { env: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`VARIABLE_${i}`, `value ${i}`])) },
  ],
  ['texts of several lines deep inside', { batch: { run: 'a\nb\n', n: 1 } }],
  ['numbers and truth', { a: 0, b: -1.5, c: true, d: false, e: null, f: 1e21 }],
  ['odd keys', { 'a b': 1, 'x:y': 2 }],
])('comes back as it was: %s', (_, map) => {
  expect(readYaml(writeYaml(map))).toEqual(map);
});

test('numbers keep their spelling', () => {
  const map = readYaml('lr: 0.10\nbig: 1_000\nsci: 1e-3\n');
  expect(map).toEqual({ lr: new Plain('0.10'), big: new Plain('1_000'), sci: new Plain('1e-3') });
  expect(writeYaml(map)).toBe('lr: 0.10\nbig: 1_000\nsci: 1e-3\n');
});

test('blocks, brackets and comments are the same to a reader', () => {
  const block = `---
# A job.
name: sweep   # not part of it
price:
  limit: 0.9
  budget: 20
inputs:
- data
- {path: corpus, folder: ../c4}
-   path: base
    blob: abc
outputs:
  - "a b"
  - 'it''s'
env: {
  A: 1,
  B: two }
run: |
  python3 x.py  # stays
  if true; then
    echo: hi
  fi

setup: echo "a # b"
empty:
`;
  expect(readYaml(block)).toEqual({
    name: 'sweep',
    price: { limit: 0.9, budget: 20 },
    inputs: ['data', { path: 'corpus', folder: '../c4' }, { path: 'base', blob: 'abc' }],
    outputs: ['a b', "it's"],
    env: { A: 1, B: 'two' },
    run: 'python3 x.py  # stays\nif true; then\n  echo: hi\nfi\n',
    setup: 'echo "a # b"',
    empty: null,
  });
});

test.each([
  ['a: 1\na: 2\n', 2],
  ['a: [1, 2\nb: 3\n', 1],
  ['a: "x\n', 1],
  ['a: &b 1\n', 1],
  ['a: >\n  folded\n', 1],
  ['a: 1\n  b: 2\n', 2],
  ['just words\n', 1],
  ['- a\n', 1],
  ['a: x\n  y\n', 2],
  ['a: {b: 1} c\n', 1],
  ['run: echo a: b\n', 1],
])('what is not followed is an error with its line: %j', (text, line) => {
  let error: unknown;
  try {
    readYaml(text);
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(YamlError);
  expect((error as YamlError).line).toBe(line);
});

test('nothing is a job file without keys', () => {
  expect(readYaml('')).toEqual({});
  expect(readYaml('# only a comment\n')).toEqual({});
});
