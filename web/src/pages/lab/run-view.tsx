import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { IconArrowLeft, IconEdit } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { count, percent } from '../../format';
import { Loaded, Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { Differences } from './differences';
import { Files } from './files';
import { MetricsTable } from './metrics-table';
import { ReplayTable } from './replay-table';
import { ResultCharts } from './result-charts';
import { isOver } from './runs';
import { type Draft, draftOf } from './scenario';

type Run = Schemas['LabRun'];

function Waiting({ run }: { run: Run }) {
  return (
    <Panel title="Progress">
      <Text size="sm" mb="xs" aria-live="polite">
        {run.state === 'queued'
          ? 'Waiting for its turn. One run computes at a time, and the market comes first.'
          : `Simulating: ${percent(run.progress)}.`}
      </Text>
      <Progress size="lg" value={100 * run.progress} animated aria-label={`progress of ${run.title}`} />
    </Panel>
  );
}

function Results({ run }: { run: Run }) {
  const { summary, comparisons = [], replay } = run;
  return (
    <Stack gap="lg">
      <Panel title="Results">
        {summary?.description && (
          <Text size="sm" mb="sm">
            {summary.description}
          </Text>
        )}
        {summary && <MetricsTable summary={summary} />}
        {replay && <ReplayTable replay={replay} />}
      </Panel>
      {summary && <ResultCharts summary={summary} />}
      {comparisons.length > 0 && <Differences comparisons={comparisons} seeds={run.seeds} />}
      {summary && <Files id={run.id} summary={summary} scenario={run.scenario} />}
    </Stack>
  );
}

type Props = { id: string; show: (id: string | undefined) => void; again: (draft: Draft) => void };

// One run: how far it is, then what came of it.
export function RunView({ id, show, again }: Props) {
  const [over, setOver] = useState(false);
  const run = useGet('/v1/lab/runs/{id}', { path: { id } }, { every: over ? false : 500 });
  useEffect(() => setOver(run.error !== null || isOver(run.data?.state)), [run.data?.state, run.error]);
  const remove = useChange(() => change('delete', '/v1/lab/runs/{id}', { path: { id } }), {
    done: (left) => {
      if (isOver(run.data?.state) || !left) show(undefined);
    },
  });
  const { data } = run;
  const scenario = data?.scenario;
  const actions = (
    <>
      <Button variant="default" leftSection={<IconArrowLeft size={16} />} onClick={() => show(undefined)}>
        Back to the lab
      </Button>
      {data && scenario !== undefined && (
        <Button leftSection={<IconEdit size={16} />} onClick={() => again(draftOf(scenario, data))}>
          Edit and run again
        </Button>
      )}
      {data && (
        <Button variant="default" loading={remove.isPending} onClick={() => remove.mutate()}>
          {over ? 'Forget this run' : 'Cancel'}
        </Button>
      )}
    </>
  );
  return (
    <Page
      title={run.data?.title ?? 'Run'}
      about={
        run.data && (
          <Group gap="xs">
            <StateBadge state={run.data.state} />
            {(run.data.mechanisms ?? []).join(', ')}
            {run.data.seeds > 0 && ` · ${count(run.data.seeds, 'seed')}`}
            <span>
              · <When at={run.data.created} />
            </span>
          </Group>
        )
      }
      actions={actions}
    >
      <Loaded query={run} height={400}>
        {(data) => (
          <>
            {!isOver(data.state) && <Waiting run={data} />}
            {data.state === 'failed' && (
              <Alert color="red" role="alert" title="The run failed">
                {data.error}
              </Alert>
            )}
            {data.state === 'interrupted' && (
              <Alert color="yellow" title="The server was restarted before this run was finished">
                {data.scenario === undefined
                  ? 'There is no result. Start the replay again.'
                  : 'There is no result. Its scenario, mechanisms and seeds are kept: press “Edit and run again”.'}
              </Alert>
            )}
            {data.state === 'cancelled' && <Alert color="gray">The run was cancelled, so there is no result.</Alert>}
            {data.state === 'done' && <Results run={data} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}
