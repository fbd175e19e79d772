import type { Schemas } from '../../api/client';

// What the programs on a machine use together, over time, from the samples of each lease.

type LeaseUsage = Schemas['LeaseUsage'];
export type TotalUse = { at: number[]; cores: number[]; memory: number[] };

type Step = { at: number; cores: number; memory: number };

// Cores in use are processor time over time, since the sample before; of the first, until the next.
function stepsOf({ samples = [] }: LeaseUsage): Step[] {
  const out = samples.map(({ at, usage }, i): Step => {
    const before = samples[i - 1];
    const took = before ? (Date.parse(at) - Date.parse(before.at)) / 1000 : 0;
    const cores = before && took > 0 ? Math.max(0, (usage.cpu_seconds - before.usage.cpu_seconds) / took) : 0;
    return { at: Date.parse(at) / 1000, cores, memory: usage.memory_bytes };
  });
  if (out[0] && out[1]) out[0].cores = out[1].cores;
  return out;
}

// The sums at every time of a sample. Leases are sampled at times of their own, and what one said
// last holds until it says more.
export function totalUse(leases: LeaseUsage[]): TotalUse {
  const series = leases.map(stepsOf);
  const at = [...new Set(series.flatMap((steps) => steps.map((s) => s.at)))].sort((a, b) => a - b);
  const out: TotalUse = { at, cores: at.map(() => 0), memory: at.map(() => 0) };
  for (const steps of series) {
    let last = -1;
    at.forEach((time, i) => {
      while ((steps[last + 1]?.at ?? Infinity) <= time) ++last;
      const now = steps[last];
      if (!now) return;
      out.cores[i] = (out.cores[i] ?? 0) + now.cores;
      out.memory[i] = (out.memory[i] ?? 0) + now.memory;
    });
  }
  return out;
}
