import { useEffect, useRef } from 'react';
import { useRowWindow } from '../../../parts/row-window';
import { marked } from './log-lines';
import classes from './logs.module.css';

const kLine = 19; // px, as in logs.module.css

export type ShownLine = { key: string; number: number; text: string; who?: { name: string; color: string } };

type Props = { lines: ShownLine[]; search: string; follow: boolean; onLeave: () => void };

// Lines of a log. Only those on the screen are drawn.
export function LogView({ lines, search, follow, onLeave }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const seen = useRowWindow(lines.length, kLine, inner, box);
  const last = lines.at(-1)?.key;
  useEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, last]);
  return (
    <div
      className={classes.box}
      ref={box}
      tabIndex={0}
      role="log"
      aria-label="what the program printed"
      aria-live="off"
      onWheel={(e) => e.deltaY < 0 && onLeave()}
    >
      <div
        ref={inner}
        className={classes.lines}
        style={{ paddingTop: seen.before, paddingBottom: seen.after }}
      >
        {lines.slice(seen.from, seen.to).map((line) => (
          <span key={line.key} className={classes.line}>
            {line.who && (
              <span className={classes.who} style={{ borderColor: line.who.color }} title={line.who.name}>
                {line.who.name}
              </span>
            )}
            <span className={classes.number}>{line.number}</span>
            {marked(line.text, search).map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}
          </span>
        ))}
      </div>
    </div>
  );
}
