import { Group, Text } from '@mantine/core';
import { useGet } from '../../api/queries';
import { credits } from '../../format';
import { Fact } from '../../parts/fact';
import { Panel } from '../../parts/panel';
import { basisText, fullWeek, machineOf, noWeekText } from '../../parts/worth-words';
import { type Lease, type Machine } from './leases';
import type { Offer } from './offers';

const kWeek = 7 * 86_400_000;

// What its leases of the last seven days earned. A lease that began before counts with the share of
// its time that falls into them.
export function earnedInWeek(leases: Lease[], now: number): number {
  return leases.reduce((sum, l) => {
    const begin = Date.parse(l.started ?? l.granted);
    const end = l.ended ? Date.parse(l.ended) : now;
    const inside = Math.max(0, end - Math.max(begin, now - kWeek));
    return sum + (end > begin ? (l.earned * Math.min(inside, end - begin)) / (end - begin) : end > now - kWeek ? l.earned : 0);
  }, 0);
}

type Props = { machine: Machine; offers: Offer[]; leases: Lease[]; partial: boolean };

// What was to be expected of it, beside what it earned.
export function WorthPanel({ machine, offers, leases, partial }: Props) {
  const earnings = useGet('/v1/earnings', { query: machineOf(machine.spec) });
  const items = earnings.data?.items ?? [];
  const e = items.find((i) => offers.some((o) => o.class === i.class)) ?? items[0];
  if (!e) return null;
  const slots = offers.filter((o) => o.class === e.class).reduce((n, o) => n + o.slots, 0);
  const part = slots > 0 ? slots / e.slots : 1;
  const now = Date.now();
  const age = now - Date.parse(machine.created);
  return (
    <Panel title="Estimated and earned">
      <Group gap="xl" align="flex-start">
        <Fact
          label={`Estimated a week, ${slots > 0 ? slots : e.slots} × ${e.class}`}
          about={e.week ? `${credits(e.week.low * part)} to ${credits(e.week.high * part)}` : noWeekText(fullWeek(e) * part)}
        >
          {e.week ? credits(e.week.expected * part) : '–'}
        </Fact>
        <Fact
          label="Earned in the last 7 days"
          about={age < kWeek ? 'it has been here for less than a week' : partial ? 'in the leases shown below' : undefined}
        >
          {credits(earnedInWeek(leases, now))}
        </Fact>
      </Group>
      {e.week && (
        <Text size="xs" c="dimmed" mt="xs">
          {basisText(e)}
        </Text>
      )}
    </Panel>
  );
}
