import { useMemo } from 'react';
import { useGet } from '../../../api/queries';

const kMost = 80; // Machines in one question: it has to fit into an address.

// Which machines to ask about: those that are not named yet, each once.
export function whereOf(machines: string[]): string {
  const ids = [...new Set(machines)].sort().slice(0, kMost);
  return ids.map((id) => `machine=${id}`).join(' or ');
}

// Names of machines by id, as far as they still have an offer. A lease says only the id.
export function useMachineNames(machines: string[]): Map<string, string> {
  const where = whereOf(machines);
  const { data } = useGet('/v1/offers', { query: { where, limit: 500 } }, { enabled: where !== '' });
  return useMemo(() => new Map((data?.items ?? []).map((o) => [o.machine, o.machine_name])), [data]);
}
