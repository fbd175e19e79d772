import { credits, duration } from '../../../format';
import { useWidth } from '../../../parts/use-width';
import { type Candidate, labelsBelow, type Point, pointsOf, roundTicks, timeTicks } from './candidates';
import classes from './pareto.module.css';

const kSize = { height: 280, left: 84, right: 20, top: 14, bottom: 44 };

type Scale = (value: number) => number;

function Axes({
  costs,
  times,
  x,
  y,
  width,
}: {
  costs: number[];
  times: number[];
  x: Scale;
  y: Scale;
  width: number;
}) {
  const bottom = kSize.height - kSize.bottom;
  return (
    <>
      {costs.map((c) => (
        <g key={`c${c}`}>
          <line className={classes.grid} x1={x(c)} x2={x(c)} y1={kSize.top} y2={bottom} />
          <text x={x(c)} y={bottom + 16} textAnchor="middle">
            {credits(c)}
          </text>
        </g>
      ))}
      {times.map((t) => (
        <g key={`t${t}`}>
          <line className={classes.grid} x1={kSize.left} x2={width - kSize.right} y1={y(t)} y2={y(t)} />
          <text x={kSize.left - 6} y={y(t) + 4} textAnchor="end">
            {t === 0 ? '0' : duration(t)}
          </text>
        </g>
      ))}
      <text x={(kSize.left + width) / 2} y={kSize.height - 6} textAnchor="middle">
        cost, credits
      </text>
    </>
  );
}

type MarkProps = { p: Point; x: Scale; y: Scale; picked: boolean; below: boolean; onPick: () => void };

function Mark({ p, x, y, picked, below, onPick }: MarkProps) {
  return (
    <g onClick={onPick}>
      <title>{`${p.workers} workers: ${duration(p.time)}, ${credits(p.cost)} credits`}</title>
      <line className={classes.range} x1={x(p.costLow)} x2={x(p.costHigh)} y1={y(p.time)} y2={y(p.time)} />
      <line className={classes.range} x1={x(p.cost)} x2={x(p.cost)} y1={y(p.timeLow)} y2={y(p.timeHigh)} />
      <circle
        className={`${classes.point} ${p.best ? classes.best : ''} ${picked ? classes.picked : ''}`}
        cx={x(p.cost)}
        cy={y(p.time)}
        r={picked ? 8 : 6}
      />
      <text x={x(p.cost) + 10} y={y(p.time) + (below ? 18 : -8)}>
        {p.workers}
      </text>
    </g>
  );
}

type Props = {
  candidates: Candidate[];
  picked: number | undefined; // Its place among them.
  onPick: (index: number) => void;
  deadline?: number | undefined; // Seconds from now.
};

// Time against cost: one point for each candidate, with the range that 8 of 10 runs fall into, and
// a line through those that none beats in both. The table beside it says the same in words.
export function Pareto({ candidates, picked, onPick, deadline }: Props) {
  // Drawn as wide as it is seen, so that its words keep their size.
  const { box, width } = useWidth(640);
  const points = pointsOf(candidates);
  const costs = roundTicks(Math.max(...points.map((p) => p.costHigh)));
  const times = timeTicks(Math.max(...points.map((p) => p.timeHigh)));
  const [mostCost, mostTime] = [costs.at(-1) ?? 1, times.at(-1) ?? 1];
  const x: Scale = (c) => kSize.left + (c / mostCost) * (width - kSize.left - kSize.right);
  const y: Scale = (t) =>
    kSize.height - kSize.bottom - (t / mostTime) * (kSize.height - kSize.top - kSize.bottom);
  const below = labelsBelow(points.map((p) => ({ x: x(p.cost), y: y(p.time) })));
  const front = points.filter((p) => p.best).sort((a, b) => a.cost - b.cost || b.time - a.time);
  return (
    <div ref={box}>
      <svg
        className={classes.chart}
        viewBox={`0 0 ${width} ${kSize.height}`}
        height={kSize.height}
        role="img"
        aria-label="time against cost of the candidates"
      >
        <Axes costs={costs} times={times} x={x} y={y} width={width} />
        {deadline !== undefined && deadline < mostTime && (
          <>
            <line
              className={classes.limit}
              x1={kSize.left}
              x2={width - kSize.right}
              y1={y(deadline)}
              y2={y(deadline)}
            />
            <text x={width - kSize.right} y={y(deadline) - 5} textAnchor="end">
              deadline
            </text>
          </>
        )}
        <polyline
          className={classes.front}
          points={front.map((p) => `${x(p.cost)},${y(p.time)}`).join(' ')}
        />
        {points.map((p, i) => (
          <Mark
            key={`${candidates[i]?.class} ${p.workers}`}
            p={p}
            x={x}
            y={y}
            picked={i === picked}
            below={below[i] === true}
            onPick={() => onPick(i)}
          />
        ))}
      </svg>
    </div>
  );
}
