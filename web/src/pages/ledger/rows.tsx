import { Anchor, Badge, Group, Table, Text } from '@mantine/core';
import { useRef } from 'react';
import { Link } from 'wouter';
import { dateTime } from '../../format';
import { useRowWindow } from '../../parts/row-window';
import { useCards } from '../../parts/wide-table';
import classes from './rows.module.css';
import { exact, type Row, signed } from './statement';

const kHeight = 36; // px, with the line below.
const kCard = 78; // px, as in rows.module.css
const kNarrow = 720;
const kColors: Record<string, string> = {
  grant: 'blue', bonus: 'blue', reserve: 'gray', refund: 'gray', spend: 'orange', earn: 'teal',
};

function LedgerRow({ row: { line, reason, available, escrow } }: { row: Row }) {
  // A job that my machine worked for is somebody else's.
  const mine = line.job !== undefined && line.kind !== 'earn';
  return (
    <Table.Tr className={classes.row}>
      <Table.Td>{dateTime(line.at)}</Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" miw="max-content" color={kColors[line.kind] ?? 'gray'}>
          {line.kind}
        </Badge>
      </Table.Td>
      <Table.Td className={classes.reason} title={reason}>
        {mine ? (
          <Anchor component={Link} href={`/jobs/${line.job}`} size="sm">
            {reason}
          </Anchor>
        ) : (
          reason
        )}
      </Table.Td>
      <Table.Td ta="right">{signed(line.amount)}</Table.Td>
      <Table.Td ta="right">{exact(available)}</Table.Td>
      <Table.Td ta="right">{exact(escrow)}</Table.Td>
    </Table.Tr>
  );
}

function LedgerCard({ row: { line, reason, available, escrow } }: { row: Row }) {
  const mine = line.job !== undefined && line.kind !== 'earn';
  return (
    <li className={classes.card}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Group gap={6} wrap="nowrap">
          <Badge variant="light" tt="none" miw="max-content" color={kColors[line.kind] ?? 'gray'}>
            {line.kind}
          </Badge>
          <Text size="xs" c="dimmed">
            {dateTime(line.at)}
          </Text>
        </Group>
        <Text fw={600} size="sm" className="numbers">
          {signed(line.amount)}
        </Text>
      </Group>
      <Text size="sm" className={classes.reason} title={reason}>
        {mine ? (
          <Anchor component={Link} href={`/jobs/${line.job}`} size="sm">
            {reason}
          </Anchor>
        ) : (
          reason
        )}
      </Text>
      <Text size="xs" c="dimmed" className={classes.reason}>
        {`after it ${exact(available)} available, ${exact(escrow)} set aside`}
      </Text>
    </li>
  );
}

function Cards({ rows }: { rows: Row[] }) {
  const list = useRef<HTMLUListElement>(null);
  const { from, to, before, after } = useRowWindow(rows.length, kCard, list);
  return (
    <ul ref={list} className={classes.cards} style={{ paddingTop: before, paddingBottom: after }}>
      {rows.slice(from, to).map((row, i) => (
        <LedgerCard key={from + i} row={row} />
      ))}
    </ul>
  );
}

// Only the rows on the screen are drawn, so that ten thousand are as fast as ten. Where there is no
// room for the table, each row is a card.
export function LedgerRows({ rows }: { rows: Row[] }) {
  const { box, cards } = useCards(kNarrow);
  return <div ref={box}>{cards ? <Cards rows={rows} /> : <Rows rows={rows} />}</div>;
}

function Rows({ rows }: { rows: Row[] }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to, before, after } = useRowWindow(rows.length, kHeight, body);
  return (
      <Table aria-rowcount={rows.length + 1}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={170}>When</Table.Th>
            <Table.Th w={110}>Kind</Table.Th>
            <Table.Th>Reason</Table.Th>
            <Table.Th ta="right">Amount</Table.Th>
            <Table.Th ta="right">Available after</Table.Th>
            <Table.Th ta="right">Set aside after</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody ref={body}>
          {before > 0 && <tr aria-hidden="true" style={{ height: before }} />}
          {rows.slice(from, to).map((row, i) => (
            <LedgerRow key={from + i} row={row} />
          ))}
          {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
        </Table.Tbody>
      </Table>
  );
}
