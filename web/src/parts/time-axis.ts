// Times on axes and in legends, one style everywhere: 24 hours, "16 Nov", the day below the first time
// of each day.

const kDay = 86_400; // s
const kMonths = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const two = (n: number) => String(n).padStart(2, '0');
const dayText = (d: Date) => `${d.getDate()} ${kMonths[d.getMonth()]}`;
const clock = (d: Date, withSeconds: boolean) =>
  `${two(d.getHours())}:${two(d.getMinutes())}${withSeconds ? `:${two(d.getSeconds())}` : ''}`;

// Labels of ticks that are `step` seconds apart; all in seconds since 1970.
export function timeLabels(ticks: number[], step: number): string[] {
  let day = '';
  return ticks.map((t) => {
    const at = new Date(t * 1000);
    if (step >= 28 * kDay) return `${kMonths[at.getMonth()]} ${at.getFullYear()}`;
    if (step >= kDay) return dayText(at);
    const time = clock(at, step < 60);
    const first = dayText(at) !== day;
    day = dayText(at);
    return first ? `${time}\n${day}` : time;
  });
}

// One moment, as exact as the picture is: `span` is what it shows, in seconds.
export function momentText(t: number, span: number): string {
  const at = new Date(t * 1000);
  const day = `${dayText(at)} ${at.getFullYear()}`;
  return span > 60 * kDay ? day : `${day}, ${clock(at, span < 600)}`;
}

// Whole slots of `size` seconds that hold the last `length` seconds before `now`.
export function slotWindow(now: number, length: number, size: number): [number, number] {
  const end = Math.ceil(now / size) * size;
  return [end - Math.max(1, Math.round(length / size)) * size, end];
}
