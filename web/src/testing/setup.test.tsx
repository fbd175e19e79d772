// @vitest-environment jsdom
import { notifications, notificationsStore } from '@mantine/notifications';
import { render, screen } from '@testing-library/react';
import { useEffect } from 'react';
import { expect, test, vi } from 'vitest';

let shown = 0;

function Part() {
  useEffect(() => {
    ++shown;
    return () => void --shown;
  });
  return <p>here</p>;
}

// Tests share one jsdom: what one leaves behind would decide the verdict of another. In whatever order these run.
for (const turn of ['first', 'second'])
  test(`a test sees nothing of the one before it: the ${turn}`, () => {
    expect(window.location.href).toBe(`${window.location.origin}/`);
    expect(localStorage.length + sessionStorage.length).toBe(0);
    expect(document.body.innerHTML).toBe('');
    expect(shown).toBe(0);
    expect(notificationsStore.getState().notifications).toEqual([]);
    expect(vi.isFakeTimers()).toBe(false);
    expect(vi.isMockFunction(console.error)).toBe(false);
    expect(globalThis).not.toHaveProperty('leftBehind');

    render(<Part />);
    expect(screen.getByText('here')).toBeTruthy();
    expect(shown).toBe(1);
    document.body.append('text');
    window.history.replaceState(null, '', '/jobs?from=j1#plan');
    localStorage.setItem('souk.signed-in', 'yes');
    sessionStorage.setItem('souk.reloaded', 'b 1');
    notifications.show({ message: 'done' });
    vi.stubGlobal('leftBehind', true);
    vi.spyOn(console, 'error').mockImplementation(() => {});
    vi.useFakeTimers();
  });
