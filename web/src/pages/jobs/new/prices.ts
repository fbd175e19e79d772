import type { Schemas } from '../../../api/client';
import { credits, exactCredits } from '../../../format';

// Is there a machine that could run it, at whatever price?
export const canRun = (prices: Schemas['PlanPrices'][] = []): boolean => prices.some((p) => p.cheapest !== undefined);

// Why a job would wait at its limit, with the price that would do; empty if it would not.
export function priceTrouble(p: Schemas['PlanPrices']): string {
  if (p.pays !== undefined) return '';
  if (p.enough !== undefined)
    return `Your limit of ${credits(p.limit)} is below every ask, so the job would wait. A limit of ${exactCredits(p.enough)} would be enough now.`;
  if (p.cheapest === undefined) return 'No machine that fits is free now, so the job would wait for one.';
  return 'Other waiting jobs bid more now, so this one would wait.';
}
