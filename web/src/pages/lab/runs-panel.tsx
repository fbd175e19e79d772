import { Anchor, Button, Group, Progress, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { percent } from '../../format';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { WideTable } from '../../parts/wide-table';
import { isOver } from './runs';

const kShown = 5;

function Row({ run, show }: { run: Schemas['LabRun']; show: (id: string) => void }) {
  const over = isOver(run.state);
  const remove = useChange(() => change('delete', '/v1/lab/runs/{id}', { path: { id: run.id } }));
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component="button" size="sm" ta="left" onClick={() => show(run.id)}>
          {run.title}
        </Anchor>
        <Text size="xs" c="dimmed">
          {(run.mechanisms ?? []).join(', ')}
        </Text>
      </Table.Td>
      <Table.Td>
        {run.state === 'running' ? (
          <Group gap={6} wrap="nowrap">
            <Progress value={100 * run.progress} w={80} aria-label={`progress of ${run.title}`} />
            {percent(run.progress)}
          </Group>
        ) : (
          <StateBadge state={run.state} />
        )}
      </Table.Td>
      <Table.Td ta="right">{run.seeds || '–'}</Table.Td>
      <Table.Td>
        <When at={run.created} />
      </Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-sm"
          variant="default"
          loading={remove.isPending}
          onClick={() => remove.mutate()}
          aria-label={`${over ? 'Forget' : 'Cancel'} ${run.title}`}
        >
          {over ? 'Forget' : 'Cancel'}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

// What this account has run lately.
export function RunsPanel({ show }: { show: (id: string) => void }) {
  const [all, setAll] = useState(false);
  const runs = useGet('/v1/lab/runs', {}, { every: 2_000 });
  return (
    <Panel title="My runs">
      <Loaded query={runs} height={120}>
        {({ items = [] }) =>
          items.length === 0 ? (
            <Empty title="No runs yet">
              Choose an example above and press Run: a small one takes a few seconds. The newest results of
              yours are kept, also when the server restarts.
            </Empty>
          ) : (
            <>
              <WideTable minWidth={600}>
                <Table verticalSpacing={6} aria-label="my runs">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Run</Table.Th>
                      <Table.Th>State</Table.Th>
                      <Table.Th ta="right">Seeds</Table.Th>
                      <Table.Th>Started</Table.Th>
                      <Table.Th ta="right">Actions</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {(all ? items : items.slice(0, kShown)).map((run) => (
                      <Row key={run.id} run={run} show={show} />
                    ))}
                  </Table.Tbody>
                </Table>
              </WideTable>
              {items.length > kShown && (
                <Button size="xs" variant="default" mt="xs" aria-expanded={all} onClick={() => setAll(!all)}>
                  {all ? 'Show fewer' : `Show all ${items.length}`}
                </Button>
              )}
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}
