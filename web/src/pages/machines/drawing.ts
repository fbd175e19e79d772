import { type KeyboardEvent, type MouseEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { add, type Cell, drawn, erase, kSteps, minuteOf, type Span, spanAt } from './weekly';

// How windows are drawn on the weekly calendar. With a mouse or pen: drag over free hours to draw,
// over drawn ones to erase; a click on a window selects it. By touch, where a drag scrolls the page:
// tap the first half hour, then the last. With keys: arrows move, Shift+arrows mark, Enter or Space
// draws or erases what is marked, Delete removes the window, Escape forgets the marks.

type Stroke = { from: Cell; to: Cell; erases: boolean; by: 'pointer' | 'taps' | 'keys' };

const kMoves: Record<string, [number, number]> = {
  ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  PageUp: [0, -4], PageDown: [0, 4],
};

function cellOf(target: EventTarget): Cell | undefined {
  const found = target instanceof Element ? target.closest<HTMLElement>('[data-cell]') : null;
  const [day, step] = (found?.dataset.cell ?? '').split('-').map(Number);
  return day === undefined || step === undefined ? undefined : { day, step };
}

const same = (a: Cell, b: Cell) => a.day === b.day && a.step === b.step;
const clamp = (n: number, most: number) => Math.max(0, Math.min(most, n));

export function useDrawing(spans: Span[], onChange: (spans: Span[]) => void) {
  const grid = useRef<HTMLDivElement>(null);
  const pointer = useRef('');
  const [cursor, setCursor] = useState<Cell>({ day: 0, step: 16 });
  const [stroke, setStroke] = useState<Stroke>();
  const [picked, setPicked] = useState(-1); // A minute inside the window that is selected.
  const selected = picked < 0 ? -1 : spanAt(spans, picked, 1);
  const isOn = (cell: Cell) => spanAt(spans, minuteOf(cell)) >= 0;

  const finish = (s: Stroke) => {
    const marks = drawn(s.from, s.to);
    setStroke(undefined);
    onChange(s.erases ? erase(spans, marks) : add(spans, marks));
    setPicked(s.erases ? -1 : (marks[0]?.from ?? -1));
  };
  const touch = (cell: Cell) => setPicked(spans[spanAt(spans, minuteOf(cell))]?.from ?? -1);

  // A drag may end anywhere on the page.
  useEffect(() => {
    if (stroke?.by !== 'pointer') return;
    const up = () => {
      if (!same(stroke.from, stroke.to) || !stroke.erases) return finish(stroke);
      setStroke(undefined);
      return touch(stroke.from);
    };
    const forget = () => setStroke(undefined);
    window.addEventListener('pointerup', up);
    window.addEventListener('pointercancel', forget);
    return () => {
      window.removeEventListener('pointerup', up);
      window.removeEventListener('pointercancel', forget);
    };
  });

  const focus = (cell: Cell) => {
    setCursor(cell);
    grid.current?.querySelector<HTMLElement>(`[data-cell="${cell.day}-${cell.step}"]`)?.focus();
  };

  const press = (cell: Cell, key: string) => {
    if (stroke?.by === 'keys') return finish({ ...stroke, to: cell });
    if (!isOn(cell)) return finish({ from: cell, to: cell, erases: false, by: 'keys' });
    return key === 'Enter' ? touch(cell) : finish({ from: cell, to: cell, erases: true, by: 'keys' });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const cell = cellOf(event.target);
    if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
    const move = kMoves[event.key];
    if (move) {
      const to = { day: clamp(cell.day + move[0], 6), step: clamp(cell.step + move[1], kSteps - 1) };
      const from = stroke?.by === 'keys' ? stroke.from : cell;
      setStroke(event.shiftKey ? { from, to, erases: isOn(from), by: 'keys' } : undefined);
      focus(to);
    } else if (event.key === 'Home' || event.key === 'End') {
      setStroke(undefined);
      focus({ day: cell.day, step: event.key === 'Home' ? 0 : kSteps - 1 });
    } else if (event.key === 'Enter' || event.key === ' ') {
      press(cell, event.key);
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      const at = spanAt(spans, minuteOf(cell));
      onChange(spans.filter((_, i) => i !== at));
      setPicked(-1);
    } else if (event.key === 'Escape' && (stroke || picked >= 0)) {
      event.stopPropagation();
      setStroke(undefined);
      setPicked(-1);
    } else {
      return;
    }
    event.preventDefault();
  };

  const onPointerDown = (event: PointerEvent) => {
    pointer.current = event.pointerType;
    const cell = cellOf(event.target);
    if (!cell || event.button !== 0 || event.pointerType === 'touch') return;
    event.preventDefault(); // No selection of text.
    focus(cell);
    setStroke({ from: cell, to: cell, erases: isOn(cell), by: 'pointer' });
  };
  const onPointerOver = (event: PointerEvent) => {
    const to = cellOf(event.target);
    if (to && stroke?.by === 'pointer') setStroke({ ...stroke, to });
  };
  // Taps, and the clicks of screen readers, which come without a pointer.
  const onClick = (event: MouseEvent) => {
    const cell = cellOf(event.target);
    if (!cell || (pointer.current !== 'touch' && event.detail > 0)) return;
    setCursor(cell);
    if (event.detail === 0) press(cell, 'Enter');
    else if (stroke?.by === 'taps') finish({ ...stroke, to: cell });
    else if (isOn(cell)) touch(cell);
    else setStroke({ from: cell, to: cell, erases: false, by: 'taps' });
  };

  return {
    grid, cursor, stroke, selected, isOn,
    marks: stroke ? drawn(stroke.from, stroke.to) : [],
    select: setPicked,
    handlers: { onKeyDown, onPointerDown, onPointerOver, onClick },
  };
}
