import { Badge } from '@mantine/core';

// The states of jobs, leases, offers and machines. The word says it; the colour helps.
const kColors: Record<string, string> = {
  running: 'teal', open: 'teal', online: 'teal', live: 'teal', succeeded: 'green', done: 'green', completed: 'green',
  queued: 'blue', granted: 'blue', preparing: 'blue', full: 'blue', waiting: 'blue',
  paused: 'yellow', draining: 'yellow', closed: 'gray', released: 'gray', offline: 'gray',
  cancelled: 'gray', expired: 'orange', failed: 'red', lost: 'red', doubted: 'red', frozen: 'red',
};

export function StateBadge({ state }: { state: string }) {
  return (
    <Badge color={kColors[state] ?? 'gray'} variant="light" tt="none" style={{ flexShrink: 0 }}>
      {state}
    </Badge>
  );
}
