import { Anchor, Button, Table, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link, useSearchParams } from 'wouter';
import { useGet } from '../../api/queries';
import { credits } from '../../format';
import { Empty } from '../../parts/empty';
import { Loaded, Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { reliabilityText } from '../../parts/reliability';
import { StateBadge } from '../../parts/state-badge';
import { WideTable } from '../../parts/wide-table';
import { earned, isOpen, type Lease, type Machine, rate, stateOf } from './leases';
import { LendDialog } from './lend-dialog';
import { useMyLeases } from './my-leases';
import { type Offer, priceText } from './offers';

function Row({ machine, offers, leases }: { machine: Machine; offers: Offer[]; leases: Lease[] }) {
  const mine = offers.filter((o) => o.machine === machine.id);
  const open = leases.filter(isOpen);
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/machines/${machine.id}`} fw={600}>
          {machine.name}
        </Anchor>
      </Table.Td>
      <Table.Td>
        <StateBadge state={stateOf(machine, offers)} />
      </Table.Td>
      <Table.Td>
        {mine.map((o) => `${o.slots - o.free} of ${o.slots} ${o.class}`).join(', ') || '–'}
      </Table.Td>
      <Table.Td>{mine.map((o) => priceText(o.price)).join(', ') || '–'}</Table.Td>
      <Table.Td ta="right">{open.length > 0 ? `${credits(rate(open))} an hour` : '–'}</Table.Td>
      <Table.Td ta="right">{credits(earned(leases))}</Table.Td>
      <Table.Td ta="right">{reliabilityText(machine)}</Table.Td>
    </Table.Tr>
  );
}

function Rows({ machines, offers, leases }: { machines: Machine[]; offers: Offer[]; leases: Lease[] }) {
  return (
    <WideTable minWidth={760}>
      <Table highlightOnHover verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Machine</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Slots leased</Table.Th>
            <Table.Th>Price</Table.Th>
            <Table.Th ta="right">Earns now</Table.Th>
            <Table.Th ta="right">Earned</Table.Th>
            <Table.Th ta="right">Reliability</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {machines.map((m) => (
            <Row key={m.id} machine={m} offers={offers} leases={leases.filter((l) => l.machine === m.id)} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

export default function Machines() {
  const [search, setSearch] = useSearchParams();
  const machines = useGet('/v1/machines', { query: { limit: 500 } });
  const offers = useGet('/v1/offers', { query: { mine: true, limit: 500 } });
  const { leases, hasMore } = useMyLeases();
  const lend = (on: boolean) => setSearch(on ? { lend: '1' } : {}, { replace: true });
  const button = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => lend(true)}>
      Lend a machine
    </Button>
  );
  const none = machines.data && (machines.data.items ?? []).length === 0;
  return (
    <Page title="Machines" about="What you lend, and what it earns." actions={none ? undefined : button}>
      <Panel title="Your machines">
        <Loaded query={machines} height={240}>
          {({ items = [] }) =>
            items.length === 0 ? (
              <Empty title="You lend nothing yet" action={button}>
                A laptop at night, a workstation at the weekend: one line on that computer, and it earns credits
                while others train models on it.
              </Empty>
            ) : (
              <Rows machines={items} offers={offers.data?.items ?? []} leases={leases} />
            )
          }
        </Loaded>
        {hasMore && (
          <Text size="xs" c="dimmed" mt="xs">
            Earned: in your last {leases.length} leases.
          </Text>
        )}
      </Panel>
      <LendDialog opened={search.get('lend') === '1'} onClose={() => lend(false)} />
    </Page>
  );
}
