import type { Schemas } from '../../../api/client';
import { seconds } from '../../../format';

// Where the time of workers goes.

type TimeSpent = Schemas['TimeSpent'];

export const kParts = [
  { key: 'compute', text: 'computing', color: 'teal.7' },
  { key: 'checking', text: 'checking', color: 'violet.6' },
  { key: 'prepare', text: 'preparing', color: 'grape.4' },
  { key: 'fetch', text: 'fetching data', color: 'yellow.6' },
  { key: 'download', text: 'downloading', color: 'orange.6' },
  { key: 'upload', text: 'uploading', color: 'red.6' },
  { key: 'waiting', text: 'waiting', color: 'gray.5' },
] as const satisfies { key: keyof TimeSpent; text: string; color: string }[];

export type Share = { text: string; color: string; seconds: number; share: number };
export type WorkerTime = {
  lease: string;
  units: number;
  rejected: number;
  lost: number;
  pace: number;
  codec: string;
  total: number;
  shares: Share[];
};

export function sharesOf(spent: TimeSpent): { total: number; shares: Share[] } {
  const parts = kParts.map(({ key, text, color }) => {
    const s = seconds(spent[key]);
    return { text, color, seconds: Number.isFinite(s) ? s : 0 };
  });
  const total = parts.reduce((sum, p) => sum + p.seconds, 0);
  return { total, shares: parts.map((p) => ({ ...p, share: total > 0 ? p.seconds / total : 0 })) };
}

// Those that worked most first.
export function workerTimes(workers: Schemas['TrainWorker'][]): WorkerTime[] {
  return workers
    .map((w) => ({
      lease: w.worker,
      units: w.units,
      rejected: w.rejected,
      lost: w.lost,
      pace: w.steps_per_second,
      codec: w.codec,
      ...sharesOf(w.spent),
    }))
    .sort((a, b) => b.units - a.units || a.lease.localeCompare(b.lease, 'en', { numeric: true }));
}

// "computing 81%, uploading 12%": what takes a hundredth or more, most first.
export function sharesText(shares: Share[]): string {
  return shares
    .filter((s) => s.share >= 0.005)
    .sort((a, b) => b.share - a.share)
    .map((s) => `${s.text} ${Math.round(100 * s.share)}%`)
    .join(', ');
}

// What holds workers up most, if anything does: everything but computing and checking is a stall.
export function worstStall(shares: Share[]): Share | undefined {
  return shares
    .slice(2)
    .filter((s) => s.share >= 0.1)
    .sort((a, b) => b.share - a.share)[0];
}
