import { VisuallyHidden } from '@mantine/core';
import { useEffect, useState } from 'react';
import classes from './calendar.module.css';
import type { useDrawing } from './drawing';
import {
  type Block, blocks, cellLabel, clock, days, kDay, kStep, kSteps, minuteIn, type Span,
} from './weekly';

const kShare = 100 / kDay; // Of the height, for a minute.
const rows = Array.from({ length: kSteps }, (_, step) => step);

function place({ day, top, bottom }: Pick<Block, 'day' | 'top' | 'bottom'>) {
  return { left: `${(100 * day) / 7}%`, top: `${top * kShare}%`, height: `${(bottom - top) * kShare}%` };
}

function names(...list: (string | false | undefined)[]) {
  return list.filter(Boolean).join(' ');
}

// The time where a window begins and ends, where there is room for it.
function Drawn({ spans, selected }: { spans: Span[]; selected: number }) {
  return blocks(spans).map((b) => (
    <div
      key={`${b.day} ${b.top}`}
      style={place(b)}
      className={names(
        classes.block, b.first && classes.first, b.last && classes.last, b.span === selected && classes.selected,
      )}
    >
      <span>{b.first && b.bottom - b.top >= kStep && clock(b.top)}</span>
      <span>{b.last && b.bottom - b.top >= (b.first ? 2 : 1) * kStep && clock(b.bottom)}</span>
    </div>
  ));
}

function Now({ zone }: { zone: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(new Date()), 60_000);
    return () => window.clearInterval(timer);
  }, []);
  const minute = minuteIn(zone, now);
  const { left, top } = place({ day: Math.floor(minute / kDay), top: minute % kDay, bottom: kDay });
  return <div className={classes.now} style={{ left, top }} />;
}

// A week of half hours to draw windows on (drawing.ts says how). Its cells are for pointers, keys
// and screen readers; what is drawn lies over them.
export function Calendar({
  spans, zone, always, drawing,
}: {
  spans: Span[];
  zone: string;
  always: boolean;
  drawing: ReturnType<typeof useDrawing>;
}) {
  const { grid, cursor, stroke, marks, selected, isOn, handlers } = drawing;
  return (
    <div ref={grid} role="grid" aria-label="weekly windows" aria-multiselectable className={classes.grid} {...handlers}>
      <div role="row" className={classes.head}>
        <span role="columnheader">
          <VisuallyHidden>Time</VisuallyHidden>
        </span>
        {days.map((d) => (
          <span role="columnheader" key={d} aria-label={d}>
            {d.slice(0, 3)}
          </span>
        ))}
      </div>
      <div role="rowgroup" className={classes.body}>
        {rows.map((step) => (
          <div role="row" key={step} className={names(classes.row, step % 2 === 0 && classes.hour)}>
            <span role="rowheader" className={classes.time}>
              {step % 2 === 0 ? clock(step * kStep) : <VisuallyHidden>{clock(step * kStep)}</VisuallyHidden>}
            </span>
            {days.map((d, day) => (
              <span
                key={d}
                role="gridcell"
                data-cell={`${day}-${step}`}
                className={classes.cell}
                tabIndex={cursor.day === day && cursor.step === step ? 0 : -1}
                aria-label={cellLabel({ day, step })}
                aria-selected={isOn({ day, step })}
              />
            ))}
          </div>
        ))}
        <div className={classes.over} aria-hidden="true">
          {always && <div className={classes.always}>Always</div>}
          <Drawn spans={spans} selected={selected} />
          {blocks(marks).map((b) => (
            <div
              key={`${b.day} ${b.top}`}
              style={place(b)}
              className={names(
                classes.mark, b.first && classes.first, b.last && classes.last, stroke?.erases && classes.erasing,
              )}
            />
          ))}
          <Now zone={zone} />
        </div>
      </div>
    </div>
  );
}
