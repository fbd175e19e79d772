// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { labelCells } from './wide-table';

test('each cell of a card says what it is', () => {
  const table = document.createElement('table');
  table.innerHTML =
    '<thead><tr><th>Job</th><th>Spent</th></tr></thead><tbody><tr><td>j1</td><td>0.5</td></tr><tr><td colspan="2">none</td></tr></tbody>';
  labelCells(table);
  expect([...table.querySelectorAll('td')].map((td) => td.dataset['label'])).toEqual(['Job', 'Spent', '']);
});
