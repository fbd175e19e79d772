import type { Schemas } from '../../../api/client';
import { bytes } from '../../../format';

// What workers use, from the samples that their machines send.

export type CurrentUse = {
  lease: string;
  cores: number;
  memory: number;
  peak: number;
  scratch: number;
  received: number;
  sent: number;
  gpus?: number; // In use, of those that it has.
  gpuMemory?: number;
};

type LeaseUsage = Schemas['LeaseUsage'];

// Cores in use are processor time over time, between the last two samples.
export function currentUse(series: LeaseUsage): CurrentUse | undefined {
  const samples = series.samples ?? [];
  const last = samples.at(-1);
  if (!last) return undefined;
  const before = samples.at(-2);
  const took = before ? (Date.parse(last.at) - Date.parse(before.at)) / 1000 : 0;
  const cores = before && took > 0 ? (last.usage.cpu_seconds - before.usage.cpu_seconds) / took : 0;
  const [gpuNow, gpuThen] = [last.usage.gpu_seconds, before?.usage.gpu_seconds];
  const known = gpuNow !== undefined && gpuThen !== undefined && took > 0;
  const gpus = known ? Math.max(0, (gpuNow - gpuThen) / took) : undefined;
  return {
    lease: series.lease,
    cores: Math.max(0, cores),
    memory: last.usage.memory_bytes,
    peak: last.usage.memory_peak_bytes,
    scratch: last.usage.scratch_bytes,
    received: last.usage.received_bytes,
    sent: last.usage.sent_bytes,
    gpus,
    gpuMemory: last.usage.gpu_memory_bytes,
  };
}

// "0.8, 40 GiB": of its GPUs in use, and their memory.
export function gpuText(used: CurrentUse): string {
  const share = used.gpus === undefined ? undefined : used.gpus.toFixed(1);
  const memory = used.gpuMemory === undefined ? undefined : bytes(used.gpuMemory);
  return [share, memory].filter((text) => text !== undefined).join(', ') || '–';
}

// The latest lease of each numbered worker: what it is on, or was last.
export function latestOfParts(leases: Schemas['Lease'][]): Map<number, Schemas['Lease']> {
  const out = new Map<number, Schemas['Lease']>();
  for (const lease of leases) {
    if (lease.part === undefined) continue;
    const known = out.get(lease.part);
    if (!known || Date.parse(known.granted) <= Date.parse(lease.granted)) out.set(lease.part, lease);
  }
  return out;
}
