import { type RefObject, useEffect, useRef, useState } from 'react';

// Has an element been on the screen? For what is asked for only once somebody looks.
export function useSeen(): { box: RefObject<HTMLDivElement>; seen: boolean } {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!box.current || seen) return;
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) setSeen(true);
    });
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [seen]);
  return { box, seen };
}
