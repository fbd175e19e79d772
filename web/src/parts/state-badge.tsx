import { Badge } from '@mantine/core';
import type { Schemas } from '../api/client';

// The states of jobs, leases, workers, offers, machines and runs of the lab. The word says it; the
// colour helps.
export type State =
  | Schemas['JobState']
  | Schemas['LeaseState']
  | Schemas['WorkerState']
  | Schemas['OfferState']
  | Schemas['LabState']
  | Schemas['TrialState']
  | 'being tested'
  | 'no offer';

const kColors: Record<State, string> = {
  running: 'teal', open: 'teal', succeeded: 'green', done: 'green',
  queued: 'blue', granted: 'blue', preparing: 'blue', ready: 'blue', full: 'blue', waiting: 'blue',
  'being tested': 'blue',
  paused: 'yellow', draining: 'yellow', closed: 'gray', offline: 'gray', 'no offer': 'gray',
  cancelled: 'gray', stopped: 'gray', interrupted: 'yellow', expired: 'orange', failed: 'red', doubted: 'red', frozen: 'red',
};

export function StateBadge({ state }: { state: State }) {
  return (
    <Badge color={kColors[state] ?? 'gray'} variant="light" tt="none" style={{ flexShrink: 0 }}>
      {state}
    </Badge>
  );
}
