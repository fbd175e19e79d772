import type { Schemas } from '../api/client';
import { count, credits } from '../format';

// What lending is worth, in words.

export type ClassEarnings = Schemas['ClassEarnings'];

// If all of it were leased all week.
export const fullWeek = ({ price, slots }: ClassEarnings): number => 24 * 7 * price * slots;

export const noWeekText = (full: number): string =>
  `no estimate yet: it needs an hour of trading; always leased: ${credits(full)} a week`;

export function weekText(e: ClassEarnings): string {
  const { week } = e;
  if (!week) return noWeekText(fullWeek(e));
  return `about ${credits(week.expected)} a week (${credits(week.low)} to ${credits(week.high)})`;
}

// What it is made from.
export function basisText(e: ClassEarnings): string {
  const hours = `From the last ${count(Math.round(e.hours), 'hour')}`;
  const used = e.used === undefined ? 'nothing was on offer' : `${Math.round(100 * e.used)}% of the slots were leased`;
  const unfilled = e.unfilled ? `, ${e.unfilled.toFixed(1)} more were wanted but not available` : '';
  return `${hours}: ${used}${unfilled}, at ${credits(e.price)} a slot-hour. Nine of ten weeks should be within the range if demand stays similar.`;
}

// The machine of the form, as the market is asked about it.
export type Size = { cores: number; memory: number; gpus: number; vram: number };

export const askOf = (s: Size) => ({
  cores: Math.floor(s.cores), memory_mib: Math.floor(s.memory * 1024), gpus: Math.floor(s.gpus),
  gpu_memory_mib: Math.floor(s.vram * 1024),
});

// A machine, as the market is asked about it.
export const machineOf = ({ cores, memory_mib, gpus, gpu_memory_mib }: Schemas['MachineSpec']) => ({
  cores, memory_mib, gpus, gpu_memory_mib,
});
