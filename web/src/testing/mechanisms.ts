import type { Schemas } from '../api/client';

// A mechanism as GET /v1/mechanisms has it: posted's properties, but for what a test says.
export const mechanism = (
  name: string,
  properties: Partial<Schemas['MechanismProperties']> = {},
  parameters: Schemas['Parameter'][] = [],
): Schemas['Mechanism'] => ({
  name,
  summary: `What ${name} does.`,
  properties: {
    individually_rational: true,
    truthfulness: 'in_price',
    budget_balance: 'strong',
    efficiency: 'none',
    sybil_proofness: 'within_round',
    fairness: 'none',
    measurements: 'none',
    goods: 'slots',
    sets_prices: true,
    gangs: true,
    live: true,
    own_demand: 'never_raises_price',
    ...properties,
  },
  parameters,
});

export const parameter = (name: string, more: Partial<Schemas['Parameter']> = {}): Schemas['Parameter'] => ({
  name,
  type: 'decimal',
  above_low: false,
  needed: false,
  meaning: `The ${name}.`,
  ...more,
});

export const external: Schemas['Choice'] = {
  name: 'external',
  summary: 'A program of yours.',
  parameters: [parameter('program', { type: 'text', needed: true })],
};
