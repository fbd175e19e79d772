import { expect, test } from 'vitest';
import { addText, cleanLine, findLines, kMostLines, marked, noLines } from './log-lines';

test('lines that arrive in pieces are whole', () => {
  let log = addText(noLines, 'one\ntw');
  log = addText(log, 'o\nthree\n');
  log = addText(log, 'four');
  expect(log.lines).toEqual(['one', 'two', 'three', 'four']);
  expect(addText(log, '\n').lines).toEqual(['one', 'two', 'three', 'four']);
  expect(addText(addText(log, '\n'), '\nx').lines).toEqual(['one', 'two', 'three', 'four', '', 'x']);
});

test('of a very long log the end is kept, and line numbers stay true', () => {
  const log = addText(noLines, Array.from({ length: kMostLines + 10 }, (_, i) => `line ${i + 1}`).join('\n'));
  expect(log.lines.length).toBe(kMostLines);
  expect(log.dropped).toBe(10);
  expect(findLines(log, 'line 11')[0]).toEqual({ number: 11, text: 'line 11' });
});

test('progress bars show their last state, colours are left out, endless lines are cut', () => {
  expect(cleanLine('10%\r50%\r100%')).toBe('100%');
  expect(cleanLine('done\r')).toBe('done');
  expect(cleanLine(`${String.fromCharCode(27)}[31mred${String.fromCharCode(27)}[0m`)).toBe('red');
  expect(cleanLine('x'.repeat(10_000)).length).toBe(2_001);
});

test('a search keeps the lines that hold it, whatever their case', () => {
  const log = addText(noLines, 'Epoch 1\nloss 2\nepoch 2\n');
  expect(findLines(log, 'epoch').map((l) => l.number)).toEqual([1, 3]);
  expect(findLines(log, '').length).toBe(3);
});

test('what was searched for is marked', () => {
  expect(marked('aXbxc', 'x')).toEqual([
    { text: 'a', hit: false },
    { text: 'X', hit: true },
    { text: 'b', hit: false },
    { text: 'x', hit: true },
    { text: 'c', hit: false },
  ]);
  expect(marked('abc', '')).toEqual([{ text: 'abc', hit: false }]);
});
