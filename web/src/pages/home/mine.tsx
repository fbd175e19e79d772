import { Anchor, Group, Progress, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { count, credits, duration, seconds } from '../../format';
import { Empty } from '../../parts/empty';
import { Panel } from '../../parts/panel';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { type Machine, stateOf } from '../machines/leases';
import type { Offer } from '../machines/offers';
import type { Job } from './now';

const kShown = 8;

function More({ shown, all, to }: { shown: number; all: number; to: string }) {
  if (all <= shown) return null;
  return (
    <Anchor component={Link} href={to} size="sm">
      {count(all - shown, 'more', 'more')}
    </Anchor>
  );
}

function slotsOf(machine: Machine, offers: Offer[]): string {
  const mine = offers.filter((o) => o.machine === machine.id);
  return mine.map((o) => `${o.slots - o.free} of ${count(o.slots, `${o.class} slot`)} leased`).join(', ');
}

export function MyMachines({ machines, offers }: { machines: Machine[]; offers: Offer[] }) {
  return (
    <Panel title="Your machines" actions={<Anchor component={Link} href="/machines" size="sm">All machines</Anchor>}>
      {machines.length === 0 ? (
        <Empty title="You lend nothing yet">
          <Anchor component={Link} href="/machines?lend=1">Lend a machine</Anchor> to earn credits.
        </Empty>
      ) : (
        <Stack gap="xs">
          {machines.slice(0, kShown).map((m) => (
            <Group key={m.id} justify="space-between" wrap="nowrap" gap="xs">
              <div style={{ minWidth: 0 }}>
                <Anchor component={Link} href={`/machines/${m.id}`} fw={600}>
                  {m.name}
                </Anchor>
                <Text size="xs" c="dimmed">
                  {slotsOf(m, offers) || `${count(m.spec.cores, 'core')}`}
                </Text>
              </div>
              <StateBadge state={stateOf(m, offers)} />
            </Group>
          ))}
          <More shown={kShown} all={machines.length} to="/machines" />
        </Stack>
      )}
    </Panel>
  );
}

function about(job: Job): string {
  if (job.low) return 'its escrow runs low: raise its budget';
  if (job.state === 'running') {
    const left = job.runway ? `, escrow for ${duration(seconds(job.runway))}` : '';
    return `${count(job.held, 'worker')}${left}`;
  }
  return job.reason;
}

function JobRow({ job }: { job: Job }) {
  const share = job.budget > 0 ? Math.min(100, (100 * job.spent) / job.budget) : 0;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Anchor component={Link} href={`/jobs/${job.id}`} fw={600} truncate>
          {job.name || job.id}
        </Anchor>
        <StateBadge state={job.state} />
      </Group>
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          {about(job) || <When at={job.created} />}
        </Text>
        <Text size="xs" c="dimmed" className="numbers">
          {credits(job.spent)} of {credits(job.budget)} spent
        </Text>
      </Group>
      <Progress value={share} size={4} mt={4} aria-label={`spent of the budget of ${job.name || job.id}`} />
    </div>
  );
}

// Live jobs first, then what ended last.
export function MyJobs({ live, ended }: { live: Job[]; ended: Job[] }) {
  const shown = [...live, ...ended].slice(0, kShown);
  return (
    <Panel title="Your jobs" actions={<Anchor component={Link} href="/jobs" size="sm">All jobs</Anchor>}>
      {shown.length === 0 ? (
        <Empty title="You run nothing yet">
          <Anchor component={Link} href="/jobs/new">Train a model</Anchor> or run a program on other people’s machines.
        </Empty>
      ) : (
        <Stack gap="sm">
          {shown.map((j) => (
            <JobRow key={j.id} job={j} />
          ))}
          <More shown={shown.length} all={live.length} to="/jobs" />
        </Stack>
      )}
    </Panel>
  );
}
