// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { showWith } from '../../testing/market';
import { external, mechanism } from '../../testing/mechanisms';
import { eventually } from '../../testing/patience';
import { Mechanisms } from './mechanisms';

const c1 = {
  name: 'c1', cores: 1, memory_mib: 1024, gpus: 0, gpu_memory_mib: 0, price: 0.2, suggested: 0.2,
  mechanism: 'k-double', params: {}, retired: false, leased: 0, wanted: 0, in_force: 'k-double',
};
const answers = {
  'GET /v1/classes': { items: [c1] },
  'GET /v1/mechanisms': {
    items: [mechanism('k-double', { truthfulness: 'none' }), mechanism('posted'), mechanism('vcg', { live: false })],
    external,
  },
  'GET /v1/classes/c1/mechanisms': { class: 'c1', items: [], treatment: { borrowers: 0 } },
  'PUT /v1/classes/c1': c1,
};

function optionOf(input: HTMLElement, name: string): HTMLElement | undefined {
  fireEvent.click(input);
  const list = document.getElementById(input.getAttribute('aria-controls') ?? '');
  return [...(list?.querySelectorAll<HTMLElement>('[role=option]') ?? [])].find((o) => o.textContent === name);
}
function button(name: string): HTMLElement {
  const found = [...document.querySelectorAll('button')].find((b) => b.textContent === name);
  if (!found) throw new Error(`no button ${name}`);
  return found;
}

test('a switch says what the new rule promises, asks first, and keeps the class as it is', async () => {
  const changes = showWith(<Mechanisms />, answers);
  const select = await screen.findByLabelText<HTMLElement>('Mechanism', { selector: 'input' });
  expect(button('Switch the mechanism')).toHaveProperty('disabled', true);
  expect(optionOf(select, 'vcg')).toBeUndefined();
  const posted = optionOf(select, 'posted');
  if (!posted) throw new Error('posted is not to be had');
  fireEvent.click(posted);
  expect(screen.getAllByText('Naming your true price is best, whatever others do.').length).toBeGreaterThan(0);
  fireEvent.click(button('Switch the mechanism'));
  expect(changes).toEqual([]);
  await screen.findByText(/Clear c1 by posted/);
  fireEvent.click(button('Switch c1'));
  await eventually(() => expect(changes).toHaveLength(1));
  expect(changes[0]).toEqual({
    method: 'PUT',
    url: '/v1/classes/c1',
    body: {
      cores: 1, memory_mib: 1024, gpus: 0, gpu_memory_mib: 0, price: 0.2, mechanism: 'posted', params: {}, retired: false,
    },
  });
});
