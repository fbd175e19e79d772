import { credits } from '../../format';

// What to do first, and what of it is done: it ticks itself.

export type Known = {
  operator: boolean;
  name: string;
  credits: number; // Available, bonus and in escrow.
  bonus: number; // The sign-up bonus of the market.
  machines: number; // My own.
  offers: number; // On the market.
  jobs: number; // My own.
  others: number; // Accounts beside mine; operators know.
  asking: number; // Open requests for credits; operators know.
  trains: boolean; // An offer has the built-in trainer; operators know.
};

export type Step = { text: string; about: string; to: string; done: boolean };

function operatorSteps(k: Known): Step[] {
  return [
    {
      text: 'Give yourself credits', done: k.credits > k.bonus, to: '/operator?tab=accounts',
      about: 'You create the credits of this market. A hundred are enough to try everything.',
    },
    {
      text: 'Lend a machine', done: k.offers > 0, to: '/machines?lend=1',
      about: 'One line on any computer, also on this one. A market needs something on offer.',
    },
    {
      text: 'Run a first job', done: k.jobs > 0,
      ...(k.trains
        ? { to: '/jobs/new', about: 'A sample that trains in a minute shows every step.' }
        : {
            to: '/jobs/new?sample=batch',
            about: 'A program on two machines shows every step. Trainings need a machine with souk-torch.',
          }),
    },
    {
      text: 'Invite somebody', done: k.others > 0, to: '/operator?tab=accounts',
      about: `Send them ${window.location.origin}; everybody can sign up there, unless you close it. They begin with ${credits(k.bonus)} credits: Settings changes that.`,
    },
    ...(k.asking > 0
      ? [{
          text: `Answer ${k.asking === 1 ? 'a request' : `${k.asking} requests`} for credits`, done: false,
          to: '/operator?tab=requests', about: 'Grant or decline, with a short message.',
        }]
      : []),
  ];
}

function memberSteps(k: Known): Step[] {
  return [
    { text: 'See what is on offer', done: k.jobs > 0, to: '/market', about: 'Machines, what they have, what they cost.' },
    {
      text: 'Plan a job', done: k.jobs > 0, to: '/jobs/new',
      about: 'What it takes and costs. That needs no credits.',
    },
    {
      text: 'Get credits', done: k.credits > 0, to: '/account',
      about: 'Lend a machine and earn them, or ask whoever runs this market.',
    },
    { text: 'Run it', done: k.jobs > 0, to: '/jobs/new', about: 'What is not spent of its budget comes back.' },
    {
      text: 'Lend a machine', done: k.machines > 0, to: '/machines?lend=1',
      about: 'It earns credits while others use it.',
    },
  ];
}

export const stepsOf = (known: Known): Step[] => (known.operator ? operatorSteps(known) : memberSteps(known));
