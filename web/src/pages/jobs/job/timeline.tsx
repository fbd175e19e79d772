import { Text } from '@mantine/core';
import { memo, useMemo } from 'react';
import { count } from '../../../format';
import { Empty } from '../../../parts/empty';
import { Panel } from '../../../parts/panel';
import { type Lane, laneText, type Lease, type Timeline as Times, timelineOf } from './lanes';
import classes from './timeline.module.css';
import { useNow } from './use-now';

type Props = {
  leases: Lease[];
  names: Map<string, string>;
  units: Map<string, number>;
  ended?: string | undefined;
};

function Bars({ lane, times }: { lane: Lane; times: Times }) {
  const share = (t: number) => `${(100 * (t - times.from)) / (times.to - times.from)}%`;
  const width = (a: number, b: number) => `${(100 * Math.max(0, b - a)) / (times.to - times.from)}%`;
  const begun = lane.started ?? lane.until;
  const style = (from: number, to: number) => ({ left: share(from), width: width(from, to) });
  return (
    <div
      className={classes.track}
      style={{ '--lane': `var(--mantine-color-${lane.color}-6)` } as React.CSSProperties}
      aria-hidden="true"
      title={laneText(lane)}
    >
      <span className={`${classes.bar} ${classes.preparing}`} style={style(lane.granted, begun)} />
      {lane.started !== undefined && (
        <span
          className={`${classes.bar} ${lane.open ? classes.open : ''}`}
          style={style(lane.started, lane.until)}
        />
      )}
    </div>
  );
}

function Row({ lane, times, units }: { lane: Lane; times: Times; units: number | undefined }) {
  return (
    <li className={classes.lane}>
      <span className={classes.machine} title={`${lane.machine} of ${lane.lender}, lease ${lane.id}`}>
        {lane.machine}
      </span>
      <Bars lane={lane} times={times} />
      <span className={classes.fate} title={lane.detail || lane.word}>
        {lane.word}
        {units !== undefined && `, ${count(units, 'unit')}`}
      </span>
    </li>
  );
}

// Workers that join and leave: one lane for each lease.
export const Timeline = memo(function Timeline({ leases, names, units, ended }: Props) {
  const live = leases.some((l) => l.state !== 'closed') || !ended;
  const now = useNow(live);
  const times = useMemo(() => timelineOf(leases, names, now, ended), [leases, names, now, ended]);
  return (
    <Panel title="Timeline">
      {times.lanes.length === 0 ? (
        <Empty title="No worker yet">Each machine that works on the job gets a row here.</Empty>
      ) : (
        <>
          <div className={classes.scroll} tabIndex={0} role="group" aria-label="workers over time">
            <div className={classes.axis} aria-hidden="true">
              <span className={classes.side} />
              <div className={classes.ticks}>
                {times.ticks.map((tick) => (
                  <span
                    key={tick.at}
                    className={classes.tick}
                    style={{ left: `${(100 * tick.at) / (times.to - times.from)}%` }}
                  >
                    {tick.text}
                  </span>
                ))}
              </div>
            </div>
            <ol className={classes.lanes}>
              {times.lanes.map((lane) => (
                <Row key={lane.id} lane={lane} times={times} units={units.get(lane.id)} />
              ))}
            </ol>
          </div>
          <Text size="xs" c="dimmed" mt="xs">
            Striped: the machine is fetching files. This time is not billed.
            {times.left > 0 && ` ${count(times.left, 'earlier lease')} not shown.`}
          </Text>
        </>
      )}
    </Panel>
  );
});
