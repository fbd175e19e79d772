import classes from './interval-plot.module.css';
import { type Estimate, places } from './measures';

// Means as dots with their intervals as lines, one row each, on one scale.
export function IntervalPlot({ rows }: { rows: { label: string; estimate: Estimate; text: string }[] }) {
  const at = places(rows.map((r) => r.estimate));
  return (
    <dl className={classes.rows}>
      {rows.map(({ label, text }, i) => {
        const place = at[i] ?? { low: 0, mean: 0, high: 0 };
        return (
          <div key={label} className={classes.row}>
            <dt>{label}</dt>
            <dd className={classes.track} aria-hidden>
              <span
                className={classes.interval}
                style={{ left: `${place.low}%`, width: `${Math.max(0, place.high - place.low)}%` }}
              />
              <span className={classes.mean} style={{ left: `${place.mean}%` }} />
            </dd>
            <dd className="numbers">{text}</dd>
          </div>
        );
      })}
    </dl>
  );
}
