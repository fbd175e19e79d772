import { Anchor, SimpleGrid } from '@mantine/core';
import { Link } from 'wouter';
import { credits, duration } from '../../format';
import { Fact } from '../../parts/fact';
import { Panel } from '../../parts/panel';
import { useMe } from '../../session';
import { balanceRunway, type Job, type Rates, shortestRunway } from './now';

// What I have, and how long it lasts.
export function Balance({ rates, jobs }: { rates: Rates; jobs: Job[] }) {
  const me = useMe();
  const runway = balanceRunway(me, rates);
  const first = shortestRunway(jobs);
  return (
    <Panel title="Credits" actions={<Anchor component={Link} href="/ledger" size="sm">Every movement</Anchor>}>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} spacing="md">
        <Fact label="Available" about="to spend on anything">
          {credits(me.available)}
        </Fact>
        <Fact label="Bonus" about="pays for jobs only">
          {credits(me.bonus)}
        </Fact>
        <Fact label="Escrow" about="set aside for live jobs">
          {credits(me.escrow)}
        </Fact>
        <Fact label="Earning now" about="an hour">
          {credits(rates.earns)}
        </Fact>
        <Fact label="Spending now" about={runway === undefined ? 'an hour' : `an hour; all lasts ${duration(runway)}`}>
          {credits(rates.spends)}
        </Fact>
        <Fact label="Runway of jobs" about={first ? <Link href={`/jobs/${first.job.id}`}>{first.job.name || first.job.id}</Link> : 'no job runs'}>
          {first ? duration(first.seconds) : '–'}
        </Fact>
      </SimpleGrid>
    </Panel>
  );
}
