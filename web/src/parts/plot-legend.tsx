import { UnstyledButton } from '@mantine/core';
import type { ChartProps, Series } from './plot';
import { colorOf, plainText } from './plot-options';
import classes from './plot.module.css';
import { momentText } from './time-axis';

// The last value there is, at or before `at`; `at` undefined: of all.
export function valueAt(values: (number | null)[], at: number | undefined): number | null {
  if (at !== undefined) return values[at] ?? null;
  for (let i = values.length - 1; i >= 0; --i) if (values[i] != null) return values[i] ?? null;
  return null;
}

function markOf(s: Series): string {
  if (s.bars) return classes['bar'] ?? '';
  if (s.points) return classes['dot'] ?? '';
  return (s.dash ? classes['dashed'] : classes['line']) ?? '';
}

type Props = { p: ChartProps; at: number | undefined; off: Set<number>; onToggle: (i: number) => void };

// What each line is, drawn as the line is drawn, with its last value or the one under the pointer.
export function Legend({ p, at, off, onToggle }: Props) {
  const first = p.x[0] ?? 0;
  const span = p.window ? p.window[1] - p.window[0] : (p.x.at(-1) ?? first) - first;
  const x = at === undefined ? undefined : p.x[at];
  const where = x === undefined ? '' : p.time ? momentText(x, span) : `${p.xLabel ?? 'x'} ${(p.formatX ?? plainText)(x)}`;
  return (
    <div className={classes['legend']} aria-hidden="true">
      {p.series.map((s, i) => {
        if (s.hidden) return null;
        const y = valueAt(s.values, at);
        const text = y === null ? '–' : ((s.scale === 'right' ? p.formatRight : p.format) ?? plainText)(y);
        return (
          <UnstyledButton
            key={s.label}
            tabIndex={-1}
            className={`${classes['key']} ${off.has(i) ? classes['off'] : ''}`}
            title={off.has(i) ? `show ${s.label}` : `hide ${s.label}`}
            onClick={() => onToggle(i)}
          >
            <span className={`${classes['mark']} ${markOf(s)}`} style={{ color: colorOf(p, i) }} />
            {s.label} {!s.guide && <b className="numbers">{text}</b>}
          </UnstyledButton>
        );
      })}
      {(p.bands ?? []).map(([upper, , label]) =>
        label ? (
          <span key={label} className={classes['key']}>
            <span className={`${classes['mark']} ${classes['band']}`} style={{ color: colorOf(p, upper) }} />
            {label}
          </span>
        ) : null,
      )}
      <span className={classes['where']}>{where}</span>
    </div>
  );
}
