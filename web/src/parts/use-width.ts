import { type RefObject, useEffect, useRef, useState } from 'react';

// How wide an element is, kept current; `otherwise` until it is known.
export function useWidth(otherwise: number): { box: RefObject<HTMLDivElement>; width: number } {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(otherwise);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => element.clientWidth > 0 && setWidth(element.clientWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return { box, width };
}
