import { Checkbox, Group, Progress, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useRef } from 'react';
import { Link } from 'wouter';
import { get, useGet } from '../../api/queries';
import { credits } from '../../format';
import { useRowWindow } from '../../parts/row-window';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { useCards } from '../../parts/wide-table';
import { hasEnded, type Job, partsDone, spentShare, workersText } from './list';
import { figureText } from './job/figures';
import classes from './table.module.css';
import { trains } from './kinds';

// px, as in table.module.css
const kRow = 49;
const kCard = 136;
const kNarrow = 820; // Less room than this, and each job is a card.

export type Picking = { picked: Set<string>; full: boolean; toggle: (id: string) => void };

function Pick({ job, picking }: { job: Job; picking: Picking }) {
  const on = picking.picked.has(job.id);
  return (
    <Checkbox
      size="xs"
      aria-label={`compare ${job.name || job.id}`}
      checked={on}
      disabled={!on && picking.full}
      onChange={() => picking.toggle(job.id)}
    />
  );
}

function Bar({ share, text, label }: { share: number; text: string; label: string }) {
  return (
    <>
      <Text size="sm" className={classes.line}>
        {text}
      </Text>
      <Progress value={100 * share} size={4} aria-label={label} />
    </>
  );
}

// A training says itself how far it is; only those that run and are on the screen are asked.
function TrainingProgress({ job }: { job: Job }) {
  const path = { id: job.id };
  const live = job.state === 'running';
  const now = useGet('/v1/jobs/{id}/training', { path }, { every: 2_000, enabled: live });
  // What it came to never changes: news of other jobs are no reason to ask again.
  const then = useQuery({
    queryKey: ['training that ended', job.id],
    queryFn: ({ signal }) => get('/v1/jobs/{id}/training', { path }, signal),
    enabled: hasEnded(job),
    staleTime: Infinity,
  });
  const data = live ? now.data : then.data;
  if (!data || data.state === 'waiting' || data.epochs === 0)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  const { name, value } = data.figure ?? { name: 'accuracy', value: data.accuracy };
  const figure = value === undefined ? '' : `, ${name} ${figureText(name, value, 1)}`;
  return (
    <Bar
      share={job.state === 'succeeded' ? 1 : data.progress}
      text={`epoch ${data.epoch} of ${data.epochs}${figure}`}
      label={`progress of ${job.name || job.id}`}
    />
  );
}

function HowFar({ job }: { job: Job }) {
  if (trains(job.kind)) return <TrainingProgress job={job} />;
  const share = partsDone(job);
  if (share === undefined)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  return (
    <Bar
      share={share}
      text={`${job.done} of ${job.workers.max} done`}
      label={`progress of ${job.name || job.id}`}
    />
  );
}

type RowProps = { job: Job; owners: boolean; picking?: Picking | undefined };

function Name({ job, owners }: RowProps) {
  return (
    <>
      <Link href={`/jobs/${job.id}`} className={classes.name}>
        {job.name || `job ${job.id}`}
      </Link>
      <Text size="xs" c="dimmed" className={classes.line}>
        {job.id}, {job.kind}
        {owners && `, ${job.owner}`}
      </Text>
    </>
  );
}

function Spent({ job }: { job: Job }) {
  return (
    <Bar
      share={spentShare(job)}
      text={`${credits(job.spent)} of ${credits(job.budget)}`}
      label={`spent of the cap of ${job.name || job.id}`}
    />
  );
}

const Card = memo(function Card({ job, owners, picking }: RowProps) {
  return (
    <li className={classes.card}>
      <Group justify="space-between" wrap="nowrap" gap="xs" align="flex-start">
        {picking && <Pick job={job} picking={picking} />}
        <div className={classes.grow}>
          <Name job={job} owners={owners} />
        </div>
        <StateBadge state={job.state} />
      </Group>
      <HowFar job={job} />
      <Spent job={job} />
      <Text size="xs" c="dimmed" className={classes.line}>
        {workersText(job)} {job.class}, submitted <When at={job.created} />
      </Text>
    </li>
  );
});

const Row = memo(function Row({ job, owners, picking }: RowProps) {
  return (
    <Table.Tr className={classes.row}>
      {picking && (
        <Table.Td>
          <Pick job={job} picking={picking} />
        </Table.Td>
      )}
      <Table.Td>
        <Name job={job} owners={owners} />
      </Table.Td>
      <Table.Td>
        <StateBadge state={job.state} />
      </Table.Td>
      <Table.Td>
        <HowFar job={job} />
      </Table.Td>
      <Table.Td className={classes.line}>
        {workersText(job)} {job.class}
      </Table.Td>
      <Table.Td>
        <Spent job={job} />
      </Table.Td>
      <Table.Td className={classes.line}>
        <When at={job.created} />
      </Table.Td>
    </Table.Tr>
  );
});

type Props = { jobs: Job[]; owners: boolean; picking?: Picking | undefined };

function Cards({ jobs, ...rest }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const seen = useRowWindow(jobs.length, kCard, list);
  return (
    <ul ref={list} className={classes.cards} style={{ paddingTop: seen.before, paddingBottom: seen.after }}>
      {jobs.slice(seen.from, seen.to).map((job) => (
        <Card key={job.id} job={job} {...rest} />
      ))}
    </ul>
  );
}

// Only the rows on the screen are drawn: a thousand jobs cost as much as twenty.
export function JobsTable(props: Props) {
  const { box, cards } = useCards(kNarrow);
  return <div ref={box}>{cards ? <Cards {...props} /> : <Rows {...props} />}</div>;
}

function Rows({ jobs, owners, picking }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  const seen = useRowWindow(jobs.length, kRow, body);
  const space = (height: number) =>
    height > 0 && (
      <tr aria-hidden="true">
        <td colSpan={7} style={{ height, padding: 0, border: 0 }} />
      </tr>
    );
  return (
      <Table className={classes.table} aria-rowcount={jobs.length}>
        <Table.Thead>
          <Table.Tr>
            {picking && <Table.Th w={40} aria-label="compare" />}
            <Table.Th w="26%">Job</Table.Th>
            <Table.Th w={110}>State</Table.Th>
            <Table.Th>Progress</Table.Th>
            <Table.Th w={130}>Workers</Table.Th>
            <Table.Th w={150}>Spent of cap</Table.Th>
            <Table.Th w={130}>Submitted</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody ref={body}>
          {space(seen.before)}
          {jobs.slice(seen.from, seen.to).map((job) => (
            <Row key={job.id} job={job} owners={owners} picking={picking} />
          ))}
          {space(seen.after)}
        </Table.Tbody>
      </Table>
  );
}
