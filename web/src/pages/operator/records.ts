import type { Schemas } from '../../api/client';
import { credits, duration, percent, seconds } from '../../format';

// What each mechanism did, a row for each number.

type Item = Schemas['MechanismRecord'];
export type RecordRow = { title: string; about: string; text: (r: Item) => string };

const share = (v: number | undefined) => (v === undefined ? '–' : percent(v, 1));
const wait = (v: string | undefined) => (v === undefined ? '–' : duration(seconds(v)));

export const recordRows: RecordRow[] = [
  { title: 'Rounds', about: 'with supply and demand', text: (r) => r.rounds.toLocaleString('en') },
  { title: 'Slots traded', about: '', text: (r) => r.traded.toLocaleString('en') },
  { title: 'Efficiency', about: 'gain from trade as declared, of the best there was', text: (r) => share(r.efficiency) },
  { title: 'Mean price', about: 'credits per slot-hour', text: (r) => (r.price === undefined ? '–' : credits(r.price)) },
  { title: 'Borrowers pay', about: 'for an hour of all that was traded', text: (r) => credits(r.borrowers_pay) },
  { title: 'Lenders get', about: 'of the same', text: (r) => credits(r.lenders_get) },
  { title: 'Platform keeps', about: 'what lies between', text: (r) => credits(r.platform) },
  { title: 'Borrowers’ share', about: 'of the gain', text: (r) => share(r.borrowers_share) },
  { title: 'Lenders’ share', about: 'of the gain', text: (r) => share(r.lenders_share) },
  { title: 'Platform’s share', about: 'of the gain', text: (r) => share(r.platform_share) },
  { title: 'Served', about: 'of the slots wanted in a round', text: (r) => share(r.served) },
  { title: 'Utilisation', about: 'of the slots there were', text: (r) => share(r.utilisation) },
  { title: 'Median wait', about: 'for a job’s first lease, to a factor of 2', text: (r) => wait(r.wait_p50) },
  { title: '95% wait', about: '95% of the jobs waited less', text: (r) => wait(r.wait_p95) },
  { title: 'Smith’s alpha', about: 'distance of prices from the competitive ones', text: (r) => share(r.alpha) },
  {
    title: 'Volatility',
    about: 'of the log of the price, round to round',
    text: (r) => (r.volatility === undefined ? '–' : r.volatility.toPrecision(3)),
  },
];

// Shares of fewer say more about the first jobs than about the market.
const kEnoughJobs = 20;

export type TreatmentRow = { title: string; about: string; text: string };

export function treatmentRows(t: Schemas['Treatment']): TreatmentRow[] {
  const gini = (v: number | undefined) => (v === undefined ? '–' : v.toFixed(3));
  if (t.ended < kEnoughJobs)
    return [{ title: 'Too early to say', about: `from ${kEnoughJobs} ended jobs on`, text: String(t.ended) }];
  return [
    { title: 'Gini of credits', about: '0: all accounts have the same', text: gini(t.gini_credits) },
    { title: 'Gini of access', about: 'of what borrowers had of the slot-time they wanted', text: gini(t.gini_access) },
    { title: 'Defection', about: 'borrowers with a job that waited over 15 times its run time', text: share(t.defection) },
    { title: 'Completed', about: 'of the jobs that ended', text: share(t.completed) },
  ];
}
