import type { Draft } from '../file/draft';

// What "Rent from NAME" of the marketplace asks of a new job: the class and the lender of one machine,
// and a limit that its price is within.
export function demandOf(search: URLSearchParams): Partial<Draft> | undefined {
  const [slot, lender, price] = [search.get('class'), search.get('lender'), Number(search.get('price') ?? NaN)];
  if (!slot || !lender) return undefined;
  return {
    class: slot, also: [], cores: '', memory: '', gpus: '', gpuMemory: '',
    lenders: [lender],
    ...(price > 0 ? { limit: price } : {}),
  };
}
