import { useSyncExternalStore } from 'react';

// Has somebody begun to fill in something that is not sent yet? Noticed for the whole document, so
// that no form can forget to say so. A change that was accepted, or another page, makes it clean.

let dirty = false;
const listeners = new Set<() => void>();

function set(now: boolean) {
  if (dirty === now) return;
  dirty = now;
  for (const tell of listeners) tell();
}

// What of the console holds input without being an <input>: lists, calendars.
const kChosen = '[role=option], [role=gridcell], [role=radio]';

export function watchInput(root: Document = document): () => void {
  const typed = () => set(true);
  const clicked = (event: Event) => {
    if (event.target instanceof Element && event.target.closest(kChosen)) set(true);
  };
  root.addEventListener('input', typed, true);
  root.addEventListener('change', typed, true);
  root.addEventListener('pointerdown', clicked, true);
  return () => {
    root.removeEventListener('input', typed, true);
    root.removeEventListener('change', typed, true);
    root.removeEventListener('pointerdown', clicked, true);
  };
}

export const saved = () => set(false);

export function useUnsaved(): boolean {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => dirty,
  );
}
