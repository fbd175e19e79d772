import { Button, Group, Pagination, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { count, credits, dateTime, duration } from '../../format';
import { Empty } from '../../parts/empty';
import { Fact } from '../../parts/fact';
import { Panel } from '../../parts/panel';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { WideTable } from '../../parts/wide-table';
import { earned, isOpen, type Lease, type Machine, rate } from './leases';
import { LiveUse } from './live-use';
import { useDoing } from './my-leases';

const kRows = 20;

type NowProps = { machine: Machine; leases: Lease[] };

// Who is on the machine, what they do there and what they pay.
export function LeasesNow({ machine, leases }: NowProps) {
  const open = leases.filter(isOpen);
  if (open.length === 0) return <Text size="sm" c="dimmed">Nobody is using it now.</Text>;
  return <Open machine={machine} leases={open} />;
}

function Open({ machine, leases: open }: NowProps) {
  const doing = useDoing(machine.id);
  return (
    <>
      <Group gap="xl" mb="sm">
        <Fact label="Leases">{open.length}</Fact>
        <Fact label="Earns now">{credits(rate(open))} an hour</Fact>
        <Fact label="Earned by these leases">{credits(earned(open))}</Fact>
      </Group>
      <WideTable minWidth={780}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Lease</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Borrower</Table.Th>
              <Table.Th>Slots</Table.Th>
              <Table.Th ta="right">Price</Table.Th>
              <Table.Th ta="right">Earned</Table.Th>
              <Table.Th>Since</Table.Th>
              <Table.Th>Term ends</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {open.map((l) => (
              <Table.Tr key={l.id}>
                <Table.Td>{l.id}</Table.Td>
                <Table.Td>
                  <StateBadge state={l.state} />
                  {doing.has(l.id) && doing.get(l.id) !== l.state && (
                    <Text size="xs" c="dimmed">
                      {doing.get(l.id)}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>{l.borrower}</Table.Td>
                <Table.Td>
                  {l.slots} {l.class}
                </Table.Td>
                <Table.Td ta="right">{credits(l.price)}</Table.Td>
                <Table.Td ta="right">{credits(l.earned)}</Table.Td>
                <Table.Td>
                  <When at={l.started ?? l.granted} />
                </Table.Td>
                <Table.Td>
                  <When at={l.until} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Title order={3} size="h5" mt="md" mb="xs">
        What the programs use
      </Title>
      <LiveUse machine={machine} leases={open} />
    </>
  );
}

function ran(l: Lease): string {
  if (!l.started || !l.ended) return '–';
  return duration((Date.parse(l.ended) - Date.parse(l.started)) / 1000);
}

function Ended({ leases }: { leases: Lease[] }) {
  return (
    <WideTable minWidth={780}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Lease</Table.Th>
            <Table.Th>Ended</Table.Th>
            <Table.Th>Borrower</Table.Th>
            <Table.Th>Slots</Table.Th>
            <Table.Th>How</Table.Th>
            <Table.Th ta="right">Ran</Table.Th>
            <Table.Th ta="right">Price</Table.Th>
            <Table.Th ta="right">Earned</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {leases.map((l) => (
            <Table.Tr key={l.id}>
              <Table.Td>{l.id}</Table.Td>
              <Table.Td>{l.ended ? dateTime(l.ended) : '–'}</Table.Td>
              <Table.Td>{l.borrower}</Table.Td>
              <Table.Td>
                {l.slots} {l.class}
              </Table.Td>
              <Table.Td title={l.detail}>{l.outcome}</Table.Td>
              <Table.Td ta="right">{ran(l)}</Table.Td>
              <Table.Td ta="right">{credits(l.price)}</Table.Td>
              <Table.Td ta="right">{credits(l.earned)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

type HistoryProps = { leases: Lease[]; hasMore: boolean; more: () => void; loadingMore: boolean };

export function LeaseHistory({ leases, hasMore, more, loadingMore }: HistoryProps) {
  const [page, setPage] = useState(1);
  const ended = leases.filter((l) => !isOpen(l));
  return (
    <Panel title="Leases that ended">
      {ended.length === 0 ? (
        <Empty title="None yet">When jobs lease slots of this machine, the earnings of each lease are listed here.</Empty>
      ) : (
        <>
          <Text size="sm" mb="xs">
            {count(ended.length, 'lease')} earned {credits(earned(ended))} credits.
          </Text>
          <Ended leases={ended.slice((page - 1) * kRows, page * kRows)} />
          <Group justify="space-between" mt="sm">
            {ended.length > kRows && (
              <Pagination
                size="sm"
                value={page}
                onChange={setPage}
                total={Math.ceil(ended.length / kRows)}
                getControlProps={(control) => ({ 'aria-label': `${control} page` })}
              />
            )}
          </Group>
        </>
      )}
      {hasMore && (
        <Button mt="sm" size="xs" variant="default" onClick={more} loading={loadingMore}>
          Show older leases
        </Button>
      )}
    </Panel>
  );
}
