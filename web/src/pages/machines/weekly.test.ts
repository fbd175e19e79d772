import { expect, test } from 'vitest';
import {
  add,
  blocks,
  type Cell,
  cellLabel,
  clock,
  describe as words,
  drawn,
  erase,
  hoursOpen,
  isWholeWeek,
  kDay,
  kStep,
  kWeek,
  minuteIn,
  minutesOf,
  normal,
  parseWeekly,
  readWindows,
  type Span,
  spanAt,
  timeZones,
  writeWindows,
} from './weekly';

// "Mon 22:00" as minutes of the week, and "Mon 22:00 7h" as a span.
const kNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
function at(text: string): number {
  const [day = '', time = ''] = text.split(' ');
  return kNames.indexOf(day) * kDay + minutesOf(time);
}
function span(from: string, hours: number): Span {
  return { from: at(from), to: at(from) + hours * 60 };
}
function cell(text: string): Cell {
  return { day: Math.floor(at(text) / kDay), step: (at(text) % kDay) / kStep };
}

test('times of the day are read and written', () => {
  expect(clock(0)).toBe('00:00');
  expect(clock(kDay)).toBe('24:00');
  expect(clock(1325)).toBe('22:05');
  expect(minutesOf('22:05')).toBe(1325);
  expect(minutesOf('7:30')).toBe(450);
  expect(minutesOf('24:00')).toBe(kDay);
  for (const wrong of ['', '24:30', '12:60', '12', '1:2', 'noon', '-1:00']) expect(minutesOf(wrong)).toBeNaN();
});

test('cells have the labels that people and screen readers need', () => {
  expect(cellLabel(cell('Mon 22:00'))).toBe('Monday 22:00');
  expect(cellLabel(cell('Sun 00:30'))).toBe('Sunday 00:30');
});

// The table of src/market/window_test.cc.
test('what the market writes is read as it means it', () => {
  expect(parseWeekly('Mon,Wed 22:00-05:00 America/Los_Angeles')).toEqual({
    days: [0, 2],
    start: 1320,
    end: 300,
    zone: 'America/Los_Angeles',
  });
  expect(parseWeekly('Mon-Fri 18:00-24:00 Europe/Berlin')?.days).toEqual([0, 1, 2, 3, 4]);
  expect(parseWeekly('daily 0:00-8:00')).toEqual({ days: [0, 1, 2, 3, 4, 5, 6], start: 0, end: 480, zone: 'UTC' });
  expect(parseWeekly('Fri-Mon 09:30-17:45')?.days).toEqual([0, 4, 5, 6]);
  expect(parseWeekly('  Sun   22:00-00:00  ')).toEqual({ days: [6], start: 1320, end: kDay, zone: 'UTC' });
});

test('what it would refuse is not guessed at', () => {
  for (const wrong of [
    '', 'Mon', 'Mno 1:00-2:00', 'Mon,,Tue 1:00-2:00', 'Mon 10:00', 'Mon 24:00-08:00', 'Mon 10:00-24:01',
    'Mon 10:60-11:00', 'Mon 1:5-2:00', 'Mon -1:00-2:00', 'Mon 10:00-11:00 Nowhere/At all',
  ])
    expect(parseWeekly(wrong), wrong).toBeUndefined();
});

test('a window across midnight is one span that goes on into the next day', () => {
  const { zone, spans, others } = readWindows(['Mon,Wed 22:00-05:00 America/Los_Angeles'], 'UTC');
  expect(zone).toBe('America/Los_Angeles');
  expect(others).toEqual([]);
  expect(spans).toEqual([span('Mon 22:00', 7), span('Wed 22:00', 7)]);
  expect(blocks(spans)).toEqual([
    { day: 0, top: 1320, bottom: kDay, span: 0, first: true, last: false },
    { day: 1, top: 0, bottom: 300, span: 0, first: false, last: true },
    { day: 2, top: 1320, bottom: kDay, span: 1, first: true, last: false },
    { day: 3, top: 0, bottom: 300, span: 1, first: false, last: true },
  ]);
});

test('Sunday night goes on on Monday morning', () => {
  const { spans } = readWindows(['Sun 22:00-05:00 UTC'], 'UTC');
  expect(spans).toEqual([span('Sun 22:00', 7)]);
  expect(blocks(spans).map((b) => [b.day, b.top, b.bottom])).toEqual([[6, 1320, kDay], [0, 0, 300]]);
  expect(writeWindows({ zone: 'UTC', spans, others: [] })).toEqual(['Sun 22:00-05:00 UTC']);
  expect(spanAt(spans, at('Mon 04:30'))).toBe(0);
  expect(spanAt(spans, at('Mon 05:00'))).toBe(-1);
});

test('the same end as start is a whole day', () => {
  const { spans } = readWindows(['Mon 09:00-09:00 UTC'], 'UTC');
  expect(spans).toEqual([span('Mon 09:00', 24)]);
  expect(writeWindows({ zone: 'UTC', spans, others: [] })).toEqual(['Mon 09:00-09:00 UTC']);
});

test('windows that touch or overlap are one', () => {
  expect(normal([span('Tue 00:00', 3), span('Mon 20:00', 4)])).toEqual([span('Mon 20:00', 7)]);
  expect(normal([span('Mon 08:00', 4), span('Mon 10:00', 8), span('Mon 11:00', 0.5)])).toEqual([span('Mon 08:00', 10)]);
  // Across the end of the week too.
  expect(normal([span('Sun 22:00', 2), span('Mon 00:00', 5)])).toEqual([span('Sun 22:00', 7)]);
  expect(normal([span('Sun 22:00', 4), span('Mon 01:00', 4)])).toEqual([span('Sun 22:00', 7)]);
  expect(normal([{ from: 5, to: 5 }])).toEqual([]);
});

test('days that follow each other without a gap are written so that the market understands', () => {
  const write = (...spans: Span[]) => writeWindows({ zone: 'UTC', spans, others: [] });
  expect(write(span('Sat 00:00', 48))).toEqual(['Sat,Sun 00:00-24:00 UTC']);
  expect(write(span('Fri 18:00', 62))).toEqual(['Mon 00:00-08:00 UTC', 'Fri 18:00-24:00 UTC', 'Sat,Sun 00:00-24:00 UTC']);
  expect(write({ from: 0, to: kWeek })).toEqual(['daily 00:00-24:00 UTC']);
  expect(write({ from: at('Wed 10:00'), to: at('Wed 10:00') + kWeek })).toEqual(['daily 00:00-24:00 UTC']);
});

test('equal hours of several days become one line, first day first', () => {
  expect(
    writeWindows({
      zone: 'Europe/Berlin',
      spans: [span('Wed 22:00', 7), span('Mon 22:00', 7), span('Tue 12:00', 1.25)],
      others: ['daily 01:00-02:00 UTC'],
    }),
  ).toEqual(['Mon,Wed 22:00-05:00 Europe/Berlin', 'Tue 12:00-13:15 Europe/Berlin', 'daily 01:00-02:00 UTC']);
  const nights = kNames.map((d) => span(`${d} 22:00`, 8));
  expect(writeWindows({ zone: 'UTC', spans: nights, others: [] })).toEqual(['daily 22:00-06:00 UTC']);
});

test('windows of another time zone are kept as they are', () => {
  const weekly = ['Mon-Fri 18:00-24:00 Europe/Berlin', 'Sat 00:00-24:00 UTC', 'something else'];
  const read = readWindows(weekly, 'Asia/Tokyo');
  expect(read.zone).toBe('Europe/Berlin');
  expect(read.others).toEqual(['Sat 00:00-24:00 UTC', 'something else']);
  expect(writeWindows(read)).toEqual(['Mon,Tue,Wed,Thu,Fri 18:00-24:00 Europe/Berlin', ...read.others]);
  expect(readWindows([], 'Asia/Tokyo')).toEqual({ zone: 'Asia/Tokyo', spans: [], others: [] });
});

test('a drag down is the same hours of each day', () => {
  expect(drawn(cell('Mon 09:00'), cell('Mon 16:30'))).toEqual([span('Mon 09:00', 8)]);
  expect(drawn(cell('Mon 16:30'), cell('Mon 09:00'))).toEqual([span('Mon 09:00', 8)]);
  expect(drawn(cell('Mon 09:00'), cell('Wed 16:30'))).toEqual([
    span('Mon 09:00', 8), span('Tue 09:00', 8), span('Wed 09:00', 8),
  ]);
  expect(drawn(cell('Sat 23:30'), cell('Sat 23:30'))).toEqual([span('Sat 23:30', 0.5)]);
});

test('a drag to the next day and up is a night', () => {
  expect(drawn(cell('Mon 22:00'), cell('Tue 04:30'))).toEqual([span('Mon 22:00', 7)]);
  expect(drawn(cell('Tue 04:30'), cell('Mon 22:00'))).toEqual([span('Mon 22:00', 7)]);
  expect(drawn(cell('Mon 22:00'), cell('Wed 04:30'))).toEqual([span('Mon 22:00', 7), span('Tue 22:00', 7)]);
});

test('erasing cuts holes, through the end of the week too', () => {
  expect(erase([span('Mon 08:00', 10)], [span('Mon 12:00', 1)])).toEqual([span('Mon 08:00', 4), span('Mon 13:00', 5)]);
  expect(erase([span('Sun 22:00', 7)], [span('Mon 00:00', 1)])).toEqual([span('Mon 01:00', 4), span('Sun 22:00', 2)]);
  expect(erase([span('Sun 22:00', 7)], [span('Sun 22:00', 7)])).toEqual([]);
  expect(erase([span('Mon 00:00', 2)], [span('Sun 23:00', 2)])).toEqual([span('Mon 01:00', 1)]);
  expect(erase([{ from: 0, to: kWeek }], [span('Wed 10:00', 1)])).toEqual([
    { from: at('Wed 11:00'), to: kWeek + at('Wed 10:00') },
  ]);
  expect(erase([span('Mon 08:00', 1)], [])).toEqual([span('Mon 08:00', 1)]);
});

test('hours of a week, whole weeks', () => {
  expect(hoursOpen([span('Mon 22:00', 7), span('Sun 22:00', 7)])).toBe(14);
  expect(hoursOpen([span('Mon 08:00', 2), span('Mon 09:00', 2)])).toBe(3);
  expect(isWholeWeek(normal(kNames.map((d) => span(`${d} 00:00`, 24))))).toBe(true);
  expect(isWholeWeek([span('Mon 00:00', 24)])).toBe(false);
});

test('windows in words', () => {
  expect(words(span('Mon 22:00', 7))).toBe('Monday 22:00 to Tuesday 05:00');
  expect(words(span('Mon 09:00', 8))).toBe('Monday 09:00 to 17:00');
  expect(words(span('Mon 22:00', 2))).toBe('Monday 22:00 to 24:00');
  expect(words(span('Sun 22:00', 7))).toBe('Sunday 22:00 to Monday 05:00');
  expect(words(span('Sat 00:00', 48))).toBe('Saturday 00:00 to Sunday 24:00');
  expect(words({ from: 0, to: kWeek })).toBe('the whole week');
});

// A thousand random drawings: what is written is read as the same windows, and drawing and erasing
// agree with a plain picture of the week.
test('nothing is lost on the way to the market and back', () => {
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % n;
  };
  const randomCell = (): Cell => ({ day: random(7), step: random(48) });
  for (let round = 0; round < 1_000; ++round) {
    let spans: Span[] = [];
    const picture = new Array<boolean>(kWeek / kStep).fill(false);
    for (let i = random(5); i >= 0; --i) {
      const drawing = random(3) > 0;
      const stroke = drawn(randomCell(), randomCell());
      spans = drawing ? add(spans, stroke) : erase(spans, stroke);
      for (const { from, to } of stroke)
        for (let m = from; m < to; m += kStep) picture[(m % kWeek) / kStep] = drawing;
    }
    expect(picture.map((_, i) => spanAt(spans, i * kStep) >= 0)).toEqual(picture);
    const written = writeWindows({ zone: 'UTC', spans, others: [] });
    for (const line of written) expect(parseWeekly(line), line).toBeDefined();
    expect(readWindows(written, 'UTC').spans).toEqual(spans);
  }
});

test('what clocks elsewhere show', () => {
  const noon = new Date('2026-01-05T12:00:00Z'); // A Monday.
  expect(minuteIn('UTC', noon)).toBe(at('Mon 12:00'));
  expect(minuteIn('Asia/Kolkata', noon)).toBe(at('Mon 17:30'));
  expect(minuteIn('Pacific/Auckland', noon)).toBe(at('Tue 01:00'));
  expect(minuteIn('America/Los_Angeles', new Date('2026-01-05T07:00:00Z'))).toBe(at('Sun 23:00'));
});

test('time zones: the likely ones first, each once', () => {
  const zones = timeZones('Europe/Berlin', 'UTC');
  expect(zones.slice(0, 2)).toEqual(['Europe/Berlin', 'UTC']);
  expect(new Set(zones).size).toBe(zones.length);
  expect(zones).toContain('America/Los_Angeles');
});
