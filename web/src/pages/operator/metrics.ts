// Reads what /metrics says (Prometheus' text format), and makes rates of it.

export type Sample = { name: string; labels: Record<string, string>; value: number };
export type Metrics = { at: number; samples: Sample[]; help: Record<string, string> };

export function parseMetrics(text: string, at = Date.now()): Metrics {
  const out: Metrics = { at, samples: [], help: {} };
  for (const line of text.split('\n')) {
    const help = /^# HELP (\S+) (.*)$/.exec(line);
    if (help?.[1]) out.help[help[1]] = help[2] ?? '';
    const sample = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!sample?.[1]) continue;
    const labels: Record<string, string> = {};
    for (const pair of (sample[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      if (pair[1]) labels[pair[1]] = (pair[2] ?? '').replace(/\\(.)/g, '$1');
    out.samples.push({ name: sample[1], labels, value: Number(sample[3]) });
  }
  return out;
}

export function value(m: Metrics | undefined, name: string, labels: Record<string, string> = {}): number | undefined {
  return m?.samples.find(
    (s) => s.name === name && Object.entries(labels).every(([key, text]) => s.labels[key] === text),
  )?.value;
}

// A second, between two moments; a counter that went down began anew.
export function rate(before: Metrics | undefined, now: Metrics, name: string): number | undefined {
  const a = value(before, name);
  const b = value(now, name);
  if (!before || a === undefined || b === undefined || now.at <= before.at || b < a) return undefined;
  return ((b - a) * 1000) / (now.at - before.at);
}

export type Slots = { class: string; leased: number; wanted: number };

export function slotsByClass(m: Metrics): Slots[] {
  const out = new Map<string, Slots>();
  for (const { name, labels, value: n } of m.samples) {
    const named = labels['class'];
    if (name !== 'souk_slots' || named === undefined) continue;
    const row = out.get(named) ?? { class: named, leased: 0, wanted: 0 };
    if (labels['kind'] === 'leased') row.leased = n;
    if (labels['kind'] === 'wanted') row.wanted = n;
    out.set(named, row);
  }
  return [...out.values()];
}

export type Line = { title: string; text: string; about: string; bad?: boolean };

// What an operator should look at, with what would be wrong.
export function healthLines(now: Metrics, before?: Metrics): Line[] {
  const n = (name: string) => value(now, name) ?? 0;
  const whole = (x: number) => x.toLocaleString('en', { maximumFractionDigits: 1 });
  const each = (x: number | undefined) => (x === undefined ? '–' : `${whole(x)} a second`);
  const commits = n('souk_commits_total');
  const commitMs = commits > 0 ? (1000 * n('souk_commit_seconds_total')) / commits : 0;
  const error = value(now, 'souk_forecast_error', { quantile: '0.5' });
  return [
    {
      title: 'Sum of all balances',
      text: whole(n('souk_ledger_sum_credits')),
      about: 'Always 0: credits only move. Anything else is a bug.',
      bad: n('souk_ledger_sum_credits') !== 0,
    },
    {
      title: 'Mean commit',
      text: `${commitMs.toPrecision(3)} ms`,
      about: 'The time the disk takes to store a group of events. Above 50 ms everybody waits.',
      bad: commitMs > 50,
    },
    {
      title: 'Refused when busy',
      text: whole(n('souk_queue_full_total')),
      about: 'Requests refused because the core was busy. Growing means overload.',
      bad: (rate(before, now, 'souk_queue_full_total') ?? 0) > 0,
    },
    { title: 'Requests', text: each(rate(before, now, 'souk_requests_total')), about: 'HTTP requests answered.' },
    { title: 'Events', text: each(rate(before, now, 'souk_events_total')), about: 'Decisions written to the journal.' },
    {
      title: 'Connections',
      text: whole(n('souk_connections')),
      about: `Open now. Streams and long polls that wait for news: ${whole(n('souk_readers'))}.`,
    },
    {
      title: 'Connections refused',
      text: whole(n('souk_connections_refused_total')),
      about: 'Over a limit, since the start.',
    },
    {
      title: 'Commands refused',
      text: whole(n('souk_commands_refused_total')),
      about: `Of ${whole(n('souk_commands_total'))}: changes that the market’s rules do not allow.`,
    },
    { title: 'Credits granted', text: whole(n('souk_minted_credits')), about: 'Ever, to all accounts.' },
    {
      title: 'Forecast error',
      text: error === undefined ? 'none yet' : `${(100 * error).toFixed(0)}%`,
      about:
        n('souk_forecasts') === 0
          ? 'No training with a quote from earlier runs has ended yet.'
          : `Median of how far the time of ${whole(n('souk_forecasts'))} trainings was off.`,
    },
  ];
}
