import type { Schemas } from '../api/client';
import { count, dateTime } from '../format';

// What keeps a machine from a proof, as `souk machine show` says it (wire/api/machine.cc).
export function busyText({ cores, of, since, again }: Schemas['BusyCores']): string {
  const next = again === undefined ? '' : `; tried again by ${dateTime(again)}, or when they stop`;
  return `other programs use ${cores.toFixed(1)} of ${count(of, 'core')} since ${dateTime(since)}${next}`;
}
