import type { Schemas } from '../../../api/client';
import { credits, exactCredits } from '../../../format';

// Why a job would wait at its limit, with the price that would do; empty if it would not.
export function priceTrouble(p: Schemas['PlanPrices']): string {
  if (p.pays !== undefined) return '';
  if (p.enough !== undefined)
    return `Your limit of ${credits(p.limit)} is below what is asked: it would wait. A limit of ${exactCredits(p.enough)} would do now.`;
  if (p.cheapest === undefined) return 'Nothing that fits is free now: it would wait for somebody to offer it.';
  return 'Others who wait bid more now: it would wait.';
}
