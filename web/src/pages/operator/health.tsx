import { Alert, Badge, Button, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type ApiError, send } from '../../api/client';
import { useGet } from '../../api/queries';
import { Chart } from '../../parts/chart';
import { Fact } from '../../parts/fact';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { healthLines, type Metrics, parseMetrics, rate, slotsByClass, value } from './metrics';

const kEvery = 2_000; // ms
const kKept = 150; // Moments for the chart: five minutes.

// What /metrics said lately, oldest first.
function useMetrics() {
  const [lately, setLately] = useState<Metrics[]>([]);
  const query = useQuery<Metrics, ApiError>({
    queryKey: ['/metrics', {}],
    queryFn: async ({ signal }) => parseMetrics(await (await send('GET', '/metrics', { signal })).text()),
    refetchInterval: kEvery,
    structuralSharing: false,
  });
  const { data } = query;
  useEffect(() => {
    if (data) setLately((before) => (before.at(-1)?.at === data.at ? before : [...before, data].slice(-kKept)));
  }, [data]);
  return { query, lately };
}

function Rates({ lately }: { lately: Metrics[] }) {
  const now = lately.slice(1);
  if (now.length === 0)
    return (
      <Text size="sm" c="dimmed" mih={206}>
        The first figures come in a few seconds.
      </Text>
    );
  const of = (name: string) => now.map((m, i) => rate(lately[i], m, name) ?? null);
  return (
    <Chart
      label="Requests and events a second, in the last minutes"
      time
      x={now.map((m) => m.at / 1000)}
      series={[
        { label: 'requests a second', values: of('souk_requests_total') },
        { label: 'events a second', values: of('souk_events_total') },
      ]}
      from0
      height={180}
    />
  );
}

function Lines({ now, before }: { now: Metrics; before: Metrics | undefined }) {
  return (
    <Table verticalSpacing={6} aria-label="key metrics">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Metric</Table.Th>
          <Table.Th ta="right">Now</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {healthLines(now, before).map(({ title, text, about, bad }) => (
          <Table.Tr key={title}>
            <Table.Td>
              {title}
              <Text size="xs" c="dimmed">
                {about}
              </Text>
            </Table.Td>
            <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
              {bad && (
                <Badge color="red" tt="none" mr={6}>
                  needs attention
                </Badge>
              )}
              {text}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Pairs({ label, head, rows }: { label: string; head: string[]; rows: (string | number)[][] }) {
  return (
    <Table verticalSpacing={4} aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          {head.map((title, i) => (
            <Table.Th key={title} ta={i === 0 ? 'left' : 'right'}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={String(row[0])}>
            {row.map((cell, i) => (
              <Table.Td key={head[i]} ta={i === 0 ? 'left' : 'right'}>
                {cell.toLocaleString('en')}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Everything({ now }: { now: Metrics }) {
  const [open, setOpen] = useState(false);
  const rows = now.samples.map((s) => {
    const labels = Object.entries(s.labels).map(([key, text]) => `${key}=${text}`);
    return [labels.length > 0 ? `${s.name} (${labels.join(', ')})` : s.name, s.value];
  });
  return (
    <div>
      <Button size="xs" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? 'Hide all metrics' : 'Show all metrics'}
      </Button>
      {open && <Pairs label="all metrics" head={['Name', 'Value']} rows={rows} />}
    </div>
  );
}

// How the market itself is doing, as it happens.
export function Health() {
  const ready = useGet('/readyz', {}, { every: kEvery });
  const { query, lately } = useMetrics();
  return (
    <Stack gap="lg">
      <Panel title="The server">
        {ready.error ? (
          <Alert color="red" role="alert" title="The market is not ready">
            {ready.error.message}
          </Alert>
        ) : (
          <Loaded query={ready} height={52}>
            {(health) => (
              <SimpleGrid cols={{ base: 2, sm: 3, md: 6 }}>
                <Fact label="Status">{health.status === 'ok' ? 'ready' : health.status}</Fact>
                <Fact label="Version">{health.version}</Fact>
                <Fact label="Events committed">{health.events.toLocaleString('en')}</Fact>
                {(['accounts', 'machines', 'offers'] as const).map((what) => (
                  <Fact key={what} label={what[0]?.toUpperCase() + what.slice(1)}>
                    {(value(query.data, `souk_${what}`) ?? 0).toLocaleString('en')}
                  </Fact>
                ))}
              </SimpleGrid>
            )}
          </Loaded>
        )}
      </Panel>
      <Loaded query={query} height={600}>
        {(now) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
            <Stack gap="lg">
              <Panel title="Key metrics">
                <Lines now={now} before={lately.at(-2)} />
              </Panel>
              <Panel title="Jobs">
                <Pairs
                  label="jobs by state"
                  head={['State', 'Jobs']}
                  rows={now.samples.filter((s) => s.name === 'souk_jobs').map((s) => [s.labels['state'] ?? '', s.value])}
                />
              </Panel>
            </Stack>
            <Stack gap="lg">
              <Panel title="Load">
                <Rates lately={lately} />
              </Panel>
              <Panel title="Slots">
                <Pairs
                  label="slots by class"
                  head={['Class', 'In use', 'Wanted']}
                  rows={slotsByClass(now).map((s) => [s.class, s.leased, s.wanted])}
                />
              </Panel>
            </Stack>
          </SimpleGrid>
        )}
      </Loaded>
      {query.data && <Everything now={query.data} />}
    </Stack>
  );
}
