import { count, percent } from '../format';

// A machine that nobody has rented yet is new: what it will do is not known.
export function reliabilityText({ reliability, leases }: { reliability: number; leases: number }): string {
  return leases === 0 ? 'new' : `${percent(reliability)} of ${count(leases, 'lease')}`;
}
