import { Alert, SimpleGrid } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { useGet } from '../../api/queries';
import { Loaded, Page } from '../../parts/page';
import { useMe } from '../../session';
import { Balance } from './balance';
import { FirstSteps } from './first-steps';
import { FlowChart } from './flow-chart';
import { MyJobs, MyMachines } from './mine';
import { NextSteps } from './next-steps';
import { ratesOf } from './now';

const jobsIn = (state: Schemas['JobState']) => ({ query: { state, limit: 100 } });

export default function Home() {
  const me = useMe();
  const machines = useGet('/v1/machines', { query: { limit: 500 } });
  const offers = useGet('/v1/offers', { query: { mine: true, limit: 500 } });
  const leases = useGet('/v1/leases', { query: { limit: 500 } });
  const running = useGet('/v1/jobs', jobsIn('running'));
  const queued = useGet('/v1/jobs', jobsIn('queued'));
  const paused = useGet('/v1/jobs', jobsIn('paused'));
  const newest = useGet('/v1/jobs', { query: { limit: 20 } });
  const live = [running, queued, paused].flatMap((q) => q.data?.items ?? []);
  const ended = (newest.data?.items ?? []).filter((j) => j.ended !== undefined);
  return (
    <Page title="Home" about={`Hello ${me.name}.`}>
      {me.frozen !== undefined && (
        <Alert color="red" title="Your account is frozen">
          {me.frozen}. Your jobs pause and your offers do not trade. Write to the operator on the Help page.
        </Alert>
      )}
      <Balance rates={ratesOf(leases.data?.items ?? [], me.name)} jobs={live} />
      <FirstSteps machines={machines.data?.items} jobs={newest.data?.items} />
      <NextSteps />
      <FlowChart />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Loaded query={machines} height={220}>
          {({ items = [] }) => <MyMachines machines={items} offers={offers.data?.items ?? []} />}
        </Loaded>
        <Loaded query={newest} height={220}>
          {() => <MyJobs live={live} ended={ended} />}
        </Loaded>
      </SimpleGrid>
    </Page>
  );
}
