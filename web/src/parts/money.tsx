import { credits, exactCredits } from '../format';

// An amount of credits; whoever points at it sees the exact figure. `shown`: where it is part of a sum.
export function Money({ amount, shown }: { amount: number; shown?: string }) {
  return <span title={`${exactCredits(amount)} credits`}>{shown ?? credits(amount)}</span>;
}
