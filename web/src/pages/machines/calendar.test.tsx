// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { type Draft, newOffer } from './offers';
import { WindowsEditor } from './windows';

// jsdom has no pointers.
window.PointerEvent = class extends MouseEvent {
  readonly pointerType: string;
  constructor(type: string, init: PointerEventInit = {}) {
    super(type, init);
    this.pointerType = init.pointerType ?? '';
  }
} as typeof PointerEvent;

let saved: string[] | undefined;

function Editor({ weekly = false }) {
  const [draft, setDraft] = useState<Draft>({
    slots: 1, price: '', market: true, always: !weekly, ends: false,
    windows: { zone: 'Europe/Berlin', spans: [], others: [] },
  });
  saved = newOffer('m1', 'c1', draft).weekly;
  return (
    <MantineProvider>
      <WindowsEditor draft={draft} change={(more) => setDraft({ ...draft, ...more })} />
    </MantineProvider>
  );
}

// By role would look through all 336 each time.
function cell(name: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(`[role=gridcell][aria-label="${name}"]`);
  if (!found) throw new Error(`no cell ${name}`);
  return found;
}
const isOn = (name: string) => cell(name).getAttribute('aria-selected') === 'true';

function drag(from: string, to: string) {
  fireEvent.pointerDown(cell(from), { button: 0, pointerType: 'mouse' });
  fireEvent.pointerOver(cell(to), { pointerType: 'mouse' });
  fireEvent.pointerUp(window);
}

test('a week is drawn with a mouse, nights across midnight too', () => {
  render(<Editor weekly />);
  expect(screen.getByRole('grid', { name: 'weekly windows' })).toBeDefined();
  drag('Monday 22:00', 'Tuesday 04:30');
  expect(isOn('Tuesday 04:30')).toBe(true);
  expect(isOn('Tuesday 05:00')).toBe(false);
  expect(saved).toEqual(['Mon 22:00-05:00 Europe/Berlin']);
  drag('Wednesday 09:00', 'Friday 16:30');
  expect(saved).toEqual(['Mon 22:00-05:00 Europe/Berlin', 'Wed,Thu,Fri 09:00-17:00 Europe/Berlin']);
});

test('a drag over what is drawn erases, a click selects, and the selected one can be deleted', () => {
  render(<Editor weekly />);
  drag('Monday 08:00', 'Monday 17:30');
  drag('Monday 12:00', 'Monday 12:30');
  expect(saved).toEqual(['Mon 08:00-12:00 Europe/Berlin', 'Mon 13:00-18:00 Europe/Berlin']);
  drag('Monday 09:00', 'Monday 09:00');
  fireEvent.click(screen.getByRole('button', { name: 'delete the window Monday 08:00 to 12:00' }));
  expect(saved).toEqual(['Mon 13:00-18:00 Europe/Berlin']);
});

test('the selected window has times to the minute', () => {
  render(<Editor weekly />);
  drag('Monday 08:00', 'Monday 09:30');
  fireEvent.change(screen.getByLabelText('Start time'), { target: { value: '07:45' } });
  expect(saved).toEqual(['Mon 07:45-10:00 Europe/Berlin']);
  fireEvent.change(screen.getByLabelText('End day'), { target: { value: '1' } });
  expect(saved).toEqual(['Mon 07:45-24:00 Europe/Berlin', 'Tue 00:00-10:00 Europe/Berlin']);
});

test('a week is drawn with keys alone', async () => {
  const user = userEvent.setup();
  render(<Editor />);
  expect(saved).toBeUndefined();
  cell('Monday 08:00').focus();
  await user.keyboard('{Enter}');
  expect(saved).toEqual(['Mon 08:00-08:30 Europe/Berlin']);
  await user.keyboard('{ArrowRight}{Shift>}{ArrowDown}{ArrowDown}{ArrowRight}{/Shift}');
  expect(screen.getByRole('status').textContent).toContain('Tuesday 08:00 to 09:30, 2 days');
  await user.keyboard('{Enter}');
  expect(saved).toEqual(['Mon 08:00-08:30 Europe/Berlin', 'Tue,Wed 08:00-09:30 Europe/Berlin']);
  expect(document.activeElement).toBe(cell('Wednesday 09:00'));
  await user.keyboard('{Delete}');
  expect(saved).toEqual(['Mon 08:00-08:30 Europe/Berlin', 'Tue 08:00-09:30 Europe/Berlin']);
  await user.keyboard('{ArrowLeft} ');
  expect(saved).toEqual(['Mon 08:00-08:30 Europe/Berlin', 'Tue 08:00-09:00 Europe/Berlin']);
});

test('by touch, two taps: a drag would scroll the page', () => {
  render(<Editor weekly />);
  const tap = (name: string) => {
    fireEvent.pointerDown(cell(name), { button: 0, pointerType: 'touch' });
    fireEvent.pointerUp(cell(name), { pointerType: 'touch' });
    fireEvent.click(cell(name), { detail: 1 });
  };
  tap('Saturday 10:00');
  expect(saved).toEqual([]);
  expect(screen.getByRole('status').textContent).toContain('Saturday 10:00');
  tap('Sunday 11:30');
  expect(saved).toEqual(['Sat,Sun 10:00-12:00 Europe/Berlin']);
});
