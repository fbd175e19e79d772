import { Button, Group, Select, Switch, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { memo, useDeferredValue, useMemo, useState } from 'react';
import { count } from '../../../format';
import { download } from '../../../parts/download';
import { ErrorBox } from '../../../parts/error-box';
import { Panel } from '../../../parts/panel';
import { Search } from '../../../parts/search';
import { useSeen } from '../../../parts/use-seen';
import { seriesColors } from '../../../theme';
import { fate, type Lease } from './lanes';
import { findLines } from './log-lines';
import { LogView, type ShownLine } from './log-view';
import { findMerged } from './merged-log';
import { kMostLogs, useLog, useMergedLog } from './use-log';

const kAll = 'all';

// Open ones first, then those that failed, then the latest.
export function inOrder(leases: Lease[]): Lease[] {
  const rank = (l: Lease) => (l.state !== 'closed' ? 0 : l.outcome === 'failed' ? 1 : 2);
  return [...leases].sort((a, b) => rank(a) - rank(b) || Date.parse(b.granted) - Date.parse(a.granted));
}

type Reading = { lines: ShownLine[]; dropped: number; known: boolean; ended: boolean; error: unknown; save: () => void };

function useOne(lease: string | undefined, search: string): Reading {
  const { log, known, ended, error } = useLog(lease);
  const lines = useMemo(
    () => findLines(log, search).map((line) => ({ ...line, key: String(line.number) })),
    [log, search],
  );
  const save = () => download(`${lease ?? 'log'}.txt`, log.lines.join('\n'), 'text/plain');
  return { lines, dropped: log.dropped, known, ended, error, save };
}

function useAll(leases: string[], colorOf: (lease: string) => string, nameOf: (lease: string) => string, search: string): Reading {
  const { log, known, running, error } = useMergedLog(leases);
  const lines = useMemo(
    () =>
      findMerged(log.lines, search).map(({ lease, number, text }) => ({
        key: `${lease} ${number}`,
        number,
        text,
        who: { name: nameOf(lease), color: colorOf(lease) },
      })),
    [log, search, nameOf, colorOf],
  );
  const save = () =>
    download('log.txt', log.lines.map((l) => `${nameOf(l.lease)} (${l.lease}): ${l.text}`).join('\n'), 'text/plain');
  return { lines, dropped: log.dropped, known, ended: leases.length > 0 && running.size === 0, error, save };
}

type Props = { leases: Lease[]; machineOf: (lease: string) => string; ended?: string | undefined };

// What programs print: of all workers together, or of one.
export const Logs = memo(function Logs({ leases, machineOf, ended: jobEnded }: Props) {
  const sorted = useMemo(() => inOrder(leases), [leases]);
  const started = useMemo(() => sorted.filter((l) => l.started), [sorted]);
  const [picked, setPicked] = useState<string>();
  const shown = picked ?? (started.length > 1 ? kAll : (started[0]?.id ?? sorted[0]?.id));
  const { box, seen } = useSeen();
  const [search, setSearch] = useState('');
  const [follow, setFollow] = useState(true);
  const wanted = useDeferredValue(search);
  const merged = shown === kAll;
  // In the order in which they began, so that what was there before reads from old to new.
  const together = useMemo(
    () =>
      started
        .slice(0, kMostLogs)
        .sort((a, b) => Date.parse(a.granted) - Date.parse(b.granted))
        .map((l) => l.id),
    [started],
  );
  const colorOf = useMemo(() => {
    const order = [...leases].sort((a, b) => Date.parse(a.granted) - Date.parse(b.granted)).map((l) => l.id);
    return (lease: string) => seriesColors[Math.max(0, order.indexOf(lease)) % seriesColors.length] ?? 'gray';
  }, [leases]);
  const one = useOne(seen && !merged ? shown : undefined, wanted);
  const all = useAll(seen && merged ? together : [], colorOf, machineOf, wanted);
  const { lines, dropped, known, ended, error, save } = merged ? all : one;
  const empty = lines.length === 0 && wanted === '';
  return (
    <Panel title="Logs">
      <Group ref={box} gap="sm" mb="sm" align="flex-end">
        <Select
          label="Worker"
          data={[
            ...(started.length > 1 ? [{ value: kAll, label: 'All workers together' }] : []),
            ...sorted.map((l) => ({
              value: l.id,
              label: `${l.part === undefined ? '' : `${l.part}: `}${machineOf(l.id)}, ${fate(l, jobEnded).word} (${l.id})`,
            })),
          ]}
          value={shown ?? null}
          onChange={(value) => value && setPicked(value)}
          allowDeselect={false}
          searchable
          w={{ base: '100%', xs: 300 }}
        />
        <Search label="Search the log" value={search} onChange={setSearch} w={{ base: '100%', xs: 200 }} />
        <Switch label="Follow" checked={follow} onChange={(e) => setFollow(e.currentTarget.checked)} pb={8} />
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={save}
          disabled={lines.length === 0}
        >
          Save the log
        </Button>
      </Group>
      {error !== undefined && lines.length === 0 && <ErrorBox error={error} />}
      {!(known && empty && ended) && (
        <LogView
          lines={lines}
          search={wanted}
          follow={follow && wanted === ''}
          onLeave={() => setFollow(false)}
        />
      )}
      <Text size="xs" c="dimmed" mt={4} role="status">
        {empty
          ? known
            ? 'Nothing has been printed'
            : 'Reading the log'
          : wanted === ''
            ? count(lines.length, 'line')
            : `${count(lines.length, 'line')} with “${wanted}”`}
        {dropped > 0 && `; ${count(dropped, 'earlier line')} not kept here`}
        {ended && (merged ? '; all have ended' : '; it has ended')}
        {merged && started.length > kMostLogs && `; the ${kMostLogs} latest of ${count(started.length, 'worker')}`}
        {merged && '. Lines of different workers stand in the order in which they arrived here.'}
      </Text>
    </Panel>
  );
});
