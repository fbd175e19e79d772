import { useWidth } from '../../../parts/use-width';
import classes from './picture.module.css';
import type { Axis, Line } from './parallel';

const kHeight = 260;
const kTop = 34;
const kBottom = 16;
const kSide = 64;
const kLeast = 92; // Between two axes; where there is less room, the picture scrolls.

const yOf = (at: number) => kTop + (1 - at) * (kHeight - kTop - kBottom);

// Parallel coordinates: each trial is a line through its settings to what it came to.
export function Picture({ axes, lines, metric }: { axes: Axis[]; lines: Line[]; metric: string }) {
  const { box, width } = useWidth(640);
  const between = Math.max(kLeast, (width - 2 * kSide) / Math.max(1, axes.length - 1));
  const all = 2 * kSide + between * (axes.length - 1);
  const xOf = (i: number) => kSide + i * between;
  return (
    <div ref={box} className={classes['box']} tabIndex={0} role="region" aria-label="settings and results of the trials">
      <svg width={all} height={kHeight} role="img" aria-label={`${lines.length} trials by their settings and ${metric}`}>
        {lines.map(({ trial, at, good, best }) => (
          <polyline
            key={trial.number}
            className={classes[best ? 'best' : 'line'] ?? ''}
            points={at.map((y, i) => `${xOf(i)},${yOf(y)}`).join(' ')}
            strokeOpacity={best ? 1 : 0.2 + 0.6 * good}
          >
            <title>{`trial ${trial.number}: ${metric} ${trial.value}`}</title>
          </polyline>
        ))}
        {axes.map((axis, i) => (
          <g key={axis.name}>
            <line className={classes['axis'] ?? ''} x1={xOf(i)} x2={xOf(i)} y1={yOf(0)} y2={yOf(1)} />
            <text className={classes['name'] ?? ''} x={xOf(i)} y={kTop - 16} textAnchor="middle">
              {axis.name}
            </text>
            {axis.marks.map((mark) => (
              <text key={mark.text} className={classes['mark'] ?? ''} x={xOf(i) - 6} y={yOf(mark.at) + 4} textAnchor="end">
                {mark.text}
              </text>
            ))}
          </g>
        ))}
      </svg>
    </div>
  );
}
