import { Button, Group, Select, Switch, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { count } from '../../../format';
import { download } from '../../../parts/download';
import { ErrorBox } from '../../../parts/error-box';
import { Panel } from '../../../parts/panel';
import { Search } from '../../../parts/search';
import { useSeen } from '../../../parts/use-seen';
import { useRowWindow } from '../../../parts/row-window';
import { fate, type Lease } from './lanes';
import { type FoundLine, findLines, marked } from './log-lines';
import classes from './logs.module.css';
import { useLog } from './use-log';

const kLine = 19; // px, as in logs.module.css

function Lines({
  lines,
  search,
  follow,
  onLeave,
}: {
  lines: FoundLine[];
  search: string;
  follow: boolean;
  onLeave: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const seen = useRowWindow(lines.length, kLine, inner, box);
  useEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, lines.length]);
  return (
    <div
      className={classes.box}
      ref={box}
      tabIndex={0}
      role="log"
      aria-label="what the program printed"
      aria-live="off"
      onWheel={(e) => e.deltaY < 0 && onLeave()}
    >
      <div
        ref={inner}
        className={classes.lines}
        style={{ paddingTop: seen.before, paddingBottom: seen.after }}
      >
        {lines.slice(seen.from, seen.to).map((line) => (
          <span key={line.number} className={classes.line}>
            <span className={classes.number}>{line.number}</span>
            {marked(line.text, search).map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}
          </span>
        ))}
      </div>
    </div>
  );
}

// Open ones first, then those that failed, then the latest.
function inOrder(leases: Lease[]): Lease[] {
  const rank = (l: Lease) => (l.state !== 'closed' ? 0 : l.outcome === 'failed' ? 1 : 2);
  return [...leases].sort((a, b) => rank(a) - rank(b) || Date.parse(b.granted) - Date.parse(a.granted));
}

type Props = { leases: Lease[]; machineOf: (lease: string) => string; ended?: string | undefined };

// What programs print: one worker at a time.
export const Logs = memo(function Logs({ leases, machineOf, ended: jobEnded }: Props) {
  const sorted = useMemo(() => inOrder(leases), [leases]);
  const [picked, setPicked] = useState<string>();
  const first = sorted.find((l) => l.started)?.id ?? sorted[0]?.id;
  const [shown, setShown] = useState<string>();
  // Whoever began to read one log goes on with it, even when another worker joins.
  useEffect(() => setShown((now) => picked ?? now ?? first), [picked, first]);
  const { box, seen } = useSeen();
  const { log, ended, error } = useLog(seen ? shown : undefined);
  const [search, setSearch] = useState('');
  const [follow, setFollow] = useState(true);
  const wanted = useDeferredValue(search);
  const lines = useMemo(() => findLines(log, wanted), [log, wanted]);
  return (
    <Panel title="Logs">
      <Group ref={box} gap="sm" mb="sm" align="flex-end">
        <Select
          label="Worker"
          data={sorted.map((l) => ({
            value: l.id,
            label: `${l.part === undefined ? '' : `${l.part}: `}${machineOf(l.id)}, ${fate(l, jobEnded).word} (${l.id})`,
          }))}
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
          onClick={() => download(`${shown ?? 'log'}.txt`, log.lines.join('\n'), 'text/plain')}
          disabled={log.lines.length === 0}
        >
          Save the log
        </Button>
      </Group>
      {error && log.lines.length === 0 && <ErrorBox error={error} />}
      <Lines
        lines={lines}
        search={wanted}
        follow={follow && wanted === ''}
        onLeave={() => setFollow(false)}
      />
      <Text size="xs" c="dimmed" mt={4} role="status">
        {wanted === '' ? count(lines.length, 'line') : `${count(lines.length, 'line')} with “${wanted}”`}
        {log.dropped > 0 && `; ${count(log.dropped, 'earlier line')} not kept here`}
        {ended ? '; it has ended' : ''}
      </Text>
    </Panel>
  );
});
