import { useEffect, useState } from 'react';
import { ago, dateTime } from '../format';

// A moment as people say it, kept current; the exact time shows on hover.
export function When({ at }: { at: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 10_000);
    return () => window.clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={dateTime(at)}>
      {ago(at, now)}
    </time>
  );
}
