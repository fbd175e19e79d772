import { type RefObject, useEffect, useState } from 'react';

// Long lists draw only the rows that are on the screen, and a few around them; empty space of the
// right height stands for the others.

export type RowWindow = { from: number; to: number; before: number; after: number }; // after, before: px

const kAround = 12; // Rows more on each side, so that scrolling meets no gap.

// `top`: of the first row, from the top of what is seen; negative once it is scrolled past.
export function rowsSeen(count: number, height: number, top: number, seen: number): RowWindow {
  const clamp = (n: number) => Math.min(count, Math.max(0, n));
  const from = clamp(Math.floor(-top / height) - kAround);
  const to = Math.max(from, clamp(Math.ceil((seen - top) / height) + kAround));
  return { from, to, before: from * height, after: (count - to) * height };
}

// Which of `count` rows of `height` px to draw. `box` holds the rows; `scroller`, if given, is what
// scrolls them, else the window does.
export function useRowWindow(
  count: number,
  height: number,
  box: RefObject<HTMLElement>,
  scroller?: RefObject<HTMLElement>,
): RowWindow {
  const [at, setAt] = useState(() => rowsSeen(count, height, 0, window.innerHeight));
  useEffect(() => {
    const measure = () => {
      if (!box.current) return;
      const top = box.current.getBoundingClientRect().top;
      const frame = scroller?.current;
      const next = frame
        ? rowsSeen(count, height, top - frame.getBoundingClientRect().top, frame.clientHeight)
        : rowsSeen(count, height, top, window.innerHeight);
      setAt((now) => (now.from === next.from && now.to === next.to && now.after === next.after ? now : next));
    };
    measure();
    const target: HTMLElement | Window = scroller?.current ?? window;
    target.addEventListener('scroll', measure, { passive: true });
    window.addEventListener('resize', measure);
    return () => {
      target.removeEventListener('scroll', measure);
      window.removeEventListener('resize', measure);
    };
  }, [count, height, box, scroller]);
  return at;
}
