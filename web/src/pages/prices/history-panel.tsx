import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { memo, useMemo, useState } from 'react';
import type { Schemas } from '../../api/client';
import { useGet } from '../../api/queries';
import { credits, percent, seconds } from '../../format';
import { Chart } from '../../parts/chart';
import { download } from '../../parts/download';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { slotWindow } from '../../parts/time-axis';
import { HistoryTable } from './history-table';
import { columns, csv, merged } from './history';

const kRanges = ['1', '7', '30', '90'];
const kPoints = 400;
const kTeal = '#1098ad';
const kGray = '#868e96';

// Drawn again only when its numbers change.
const Charts = memo(function Charts({ buckets, days, by }: { buckets: Schemas['PriceBucket'][]; days: string; by: 'hour' | 'day' }) {
  const window = useMemo(
    () => slotWindow(Date.now() / 1000, 86_400 * Number(days), by === 'day' ? 86_400 : 3_600),
    [buckets, days, by],
  );
  const c = useMemo(() => columns(merged(buckets, kPoints), window[0]), [buckets, window]);
  const prices = useMemo(
    () => [
      { label: 'upper quartile', values: c.quartile3, color: kTeal, hidden: true },
      { label: 'lower quartile', values: c.quartile1, color: kTeal, hidden: true },
      { label: 'median', values: c.median, color: kTeal },
      { label: 'lowest', values: c.low, color: kGray, dash: true },
      { label: 'highest', values: c.high, color: kGray, dash: true },
    ],
    [c],
  );
  const use = useMemo(
    () => [
      { label: 'slots traded', values: c.volume, color: kTeal, bars: true },
      { label: 'utilisation', values: c.utilisation, color: '#e8590c', scale: 'right' as const },
    ],
    [c],
  );
  return (
    <>
      <Chart
        label={`Prices paid in the last ${days} days, credits per slot-hour`}
        time
        x={c.x}
        series={prices}
        bands={[[0, 1, 'middle half']]}
        window={window}
        format={credits}
        from0
        height={240}
      />
      <Chart
        label={`Slots traded and share of slots in use in the last ${days} days`}
        time
        x={c.x}
        series={use}
        window={window}
        format={(n) => n.toLocaleString('en')}
        formatRight={(share) => percent(share)}
        from0
        height={150}
      />
      <Text size="xs" c="dimmed">
        The band holds the middle half of the prices paid. Trades of an account with itself do not count. Drag over a chart to zoom in.
      </Text>
    </>
  );
});

export function HistoryPanel({ name }: { name: string }) {
  const [days, setDays] = useState('7');
  const [by, setBy] = useState<'hour' | 'day'>('hour');
  const [table, setTable] = useState(false);
  const prices = useGet('/v1/prices', { query: { class: name, days: Number(days), by } });
  const settings = useGet('/v1/settings', {});
  const kept = settings.data ? seconds(settings.data.history) / 86_400 : undefined;
  const buckets = useMemo(() => prices.data?.buckets ?? [], [prices.data]);
  const controls = (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="days of history"
        value={days}
        onChange={(range) => {
          setDays(range);
          setBy(Number(range) > 7 ? 'day' : 'hour');
        }}
        data={kRanges.map((value) => ({ value, label: value === '1' ? '1 day' : `${value} days` }))}
      />
      <SegmentedControl
        size="xs"
        aria-label="each point is"
        value={by}
        onChange={(value) => setBy(value === 'day' ? 'day' : 'hour')}
        data={[
          { value: 'hour', label: 'By hour' },
          { value: 'day', label: 'By day' },
        ]}
      />
    </Group>
  );
  return (
    <Panel title="Price history" actions={controls}>
      <Stack gap="xs" mih={490}>
        <Loaded query={prices} height={460}>
          {() =>
            buckets.length === 0 ? (
              <Empty title="Nothing has been traded in this time">
                Prices appear here with the first round that grants a lease. Until then the suggested price is the
                operator’s.
              </Empty>
            ) : (
              <Charts buckets={buckets} days={days} by={by} />
            )
          }
        </Loaded>
        {kept !== undefined && Number(days) > kept && (
          <Text size="xs" c="dimmed">
            This market keeps {kept.toLocaleString('en')} days of prices; an operator can change that.
          </Text>
        )}
        {buckets.length > 0 && (
          <Group gap="xs">
            <Button size="xs" variant="default" aria-expanded={table} onClick={() => setTable(!table)}>
              {table ? 'Hide the table' : 'Show as a table'}
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconDownload size={14} />}
              onClick={() => download(`prices-${name}-${days}d-by-${by}.csv`, csv(buckets))}
            >
              Download CSV
            </Button>
          </Group>
        )}
        {table && <HistoryTable key={`${name} ${days} ${by}`} buckets={buckets} by={by} />}
      </Stack>
    </Panel>
  );
}
