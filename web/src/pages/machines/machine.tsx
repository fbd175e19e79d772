import { Alert, Anchor, Group, Stack, Text } from '@mantine/core';
import { useGet } from '../../api/queries';
import { Link } from 'wouter';
import { count } from '../../format';
import { busyText } from '../../parts/busy';
import { Loaded, Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { reliabilityText } from '../../parts/reliability';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { Detected } from './detected';
import { LeaseHistory, LeasesNow } from './lease-tables';
import { isKnown, type Machine, stateOf, wasTested } from './leases';
import { MachineActions } from './machine-actions';
import { useMyLeases } from './my-leases';
import { NewOfferPanel } from './new-offer';
import { OfferPanel } from './offer-panel';
import { usualClass } from './offers';
import { Reliability } from './reliability';
import { StartAgain } from './start-again';
import { WorthPanel } from './worth-panel';

function Trouble({ machine }: { machine: Machine }) {
  if (!isKnown(machine)) return <StartAgain machine={machine} title="The lending program has not run on it yet" />;
  if (machine.doubted !== undefined)
    return (
      <Alert
        {...(wasTested(machine)
          ? { color: 'red', title: 'This machine has not passed its last check and lends nothing for now' }
          : { color: 'blue', title: 'This machine is being tested and lends nothing yet' })}
      >
        {machine.doubted}. {machine.busy && `Not yet proved: ${busyText(machine.busy)}. `}Before a machine lends, it is tested: all of its cores compute at once, and its memory is
        filled and read. The test is repeated while its agent runs, and the machine lends once it passes. If the
        machine is busy with other things, lend fewer cores or less memory.
      </Alert>
    );
  if (!machine.online) return <StartAgain machine={machine} title="This machine stopped responding while it was leased" />;
  return null;
}

function Body({ machine }: { machine: Machine }) {
  const offers = useGet('/v1/offers', { query: { mine: true, limit: 500 } });
  const classes = useGet('/v1/classes', {});
  const { leases, hasMore, more, loadingMore } = useMyLeases(machine.id);
  const all = offers.data?.items ?? [];
  const own = all.filter((o) => o.machine === machine.id);
  return (
    <Page
      title={machine.name}
      about={
        <Group gap="xs">
          <StateBadge state={stateOf(machine, all)} />
          <span>
            {machine.id}, {count(own.length, 'offer')}, {machine.leases === 0 ? 'new' : `${reliabilityText(machine)} kept`}, added{' '}
            <When at={machine.created} />
          </span>
        </Group>
      }
      actions={<MachineActions machine={machine} offers={own} />}
    >
      <Trouble machine={machine} />
      {isKnown(machine) && (
        <Panel title="What it has">
          <Detected machine={machine} />
        </Panel>
      )}
      {isKnown(machine) && (
        <Panel title="In use now">
          <LeasesNow machine={machine} leases={leases} />
        </Panel>
      )}
      {isKnown(machine) && (
        <Loaded query={offers} height={700}>
          {() => (
            <Loaded query={classes} height={700}>
              {({ items = [] }) => (
                <Stack gap="lg">
                  {own.map((o) => (
                    <OfferPanel key={o.id} offer={o} machine={machine} offers={all} classes={items} />
                  ))}
                  {(own.length === 0 || usualClass(machine.spec, own, items) !== undefined) && (
                    <NewOfferPanel machine={machine} offers={all} classes={items} />
                  )}
                </Stack>
              )}
            </Loaded>
          )}
        </Loaded>
      )}
      {isKnown(machine) && <WorthPanel machine={machine} offers={own} leases={leases} partial={hasMore} />}
      <Reliability machine={machine} leases={leases} partial={hasMore} />
      <LeaseHistory leases={leases} hasMore={hasMore} more={more} loadingMore={loadingMore} />
    </Page>
  );
}

const kEvery = 10_000; // ms: what a machine says of its load makes no news.

export default function MachinePage({ id }: { id: string }) {
  const machine = useGet('/v1/machines/{id}', { path: { id } }, { every: kEvery });
  if (machine.data) return <Body machine={machine.data} />;
  return (
    <Page title={`Machine ${id}`}>
      <Loaded query={machine} height={600}>
        {() => null}
      </Loaded>
      {machine.error && (
        <Text size="sm">
          <Anchor component={Link} href="/machines">
            All your machines
          </Anchor>
        </Text>
      )}
    </Page>
  );
}
