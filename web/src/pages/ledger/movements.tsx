import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useDeferredValue, useMemo, useState } from 'react';
import { count } from '../../format';
import { download } from '../../parts/download';
import { Empty } from '../../parts/empty';
import { Panel } from '../../parts/panel';
import { LedgerRows } from './rows';
import { type Book, csvOf, fileName, type Filter, jobsIn, kinds, kindWords, matching, signed, sumsOf } from './statement';

const kEverything: Filter = { kind: '', job: '', text: '' };

function Filters({ filter, set, jobs }: { filter: Filter; set: (more: Partial<Filter>) => void; jobs: string[] }) {
  return (
    <Group gap="sm" mb="sm" align="flex-end">
      <Select
        label="Kind"
        placeholder="all kinds"
        clearable
        w={160}
        data={[...kinds]}
        value={filter.kind || null}
        onChange={(word) => set({ kind: kinds.find((k) => k === word) ?? '' })}
      />
      <Select
        label="Job"
        placeholder="all jobs"
        clearable
        searchable
        limit={100}
        w={160}
        data={jobs}
        value={filter.job || null}
        onChange={(job) => set({ job: job ?? '' })}
      />
      <TextInput
        label="Search"
        placeholder="memo, lease, amount"
        w={220}
        value={filter.text}
        onChange={(e) => set({ text: e.currentTarget.value })}
      />
    </Group>
  );
}

export function Movements({ account, book }: { account: string; book: Book }) {
  const [filter, setFilter] = useState(kEverything);
  const late = useDeferredValue(filter);
  const rows = useMemo(() => matching(book.rows, late), [book.rows, late]);
  const jobs = useMemo(() => jobsIn(book.rows), [book.rows]);
  const save = () => download(fileName(account, new Date()), csvOf(rows));
  return (
    <Panel
      title="Movements"
      actions={
        <Button size="xs" variant="default" leftSection={<IconDownload size={14} />} disabled={rows.length === 0} onClick={save}>
          Export CSV
        </Button>
      }
    >
      <Filters filter={filter} set={(more) => setFilter({ ...filter, ...more })} jobs={jobs} />
      <Text size="sm" c="dimmed" mb="xs" role="status">
        {count(rows.length, 'movement')}
        {rows.length < book.rows.length && ` of ${book.rows.length.toLocaleString('en')}`}
        {rows.length > 0 && `: ${sumsOf(rows).map(({ kind, sum }) => `${kind} ${signed(sum)}`).join(', ')}`}.{' '}
        {filter.kind && `${filter.kind}: ${kindWords[filter.kind]}.`}
      </Text>
      {book.rows.length === 0 ? (
        <Empty title="No credits have moved yet">
          Credits come from lending a machine, or from the operator. Each movement is listed here with its reason.
        </Empty>
      ) : rows.length === 0 ? (
        <Empty
          title="No movement matches"
          action={<Button size="xs" variant="default" onClick={() => setFilter(kEverything)}>Show all</Button>}
        />
      ) : (
        <LedgerRows rows={rows} />
      )}
      <Text size="xs" c="dimmed" mt="sm">
        All payments of one lease are one line, dated by the last payment.
        {!book.complete && ' Older lines are no longer kept. Balances before that are computed backwards from today.'}
      </Text>
    </Panel>
  );
}
