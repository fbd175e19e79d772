import { Button, Code, Group, List, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../../api/client';
import { change, useChange, useGet } from '../../../api/queries';
import { count } from '../../../format';
import { busyText } from '../../../parts/busy';
import { Loaded } from '../../../parts/page';
import { Panel } from '../../../parts/panel';
import { obstacleText, relaxationText, stepFor } from './relax';

type Job = Schemas['Job'];
type Relaxation = Schemas['Relaxation'];

function Action({ relaxation, job }: { relaxation: Relaxation; job: Job }) {
  const step = stepFor(relaxation, job);
  const edit = useChange(
    (body: Schemas['JobEdit']) => change('patch', '/v1/jobs/{id}', { path: { id: job.id }, body }),
    {
      said: 'Changed. It counts from the next round.',
    },
  );
  if (step.how === 'wait') return null;
  if (step.how === 'command') return <Code>{step.command}</Code>;
  if (step.how === 'clone')
    return (
      <Button
        component={Link}
        href={`/jobs/new?from=${job.id}&class=${encodeURIComponent(step.class)}`}
        size="xs"
        variant="default"
      >
        {`Clone with class ${step.class}`}
      </Button>
    );
  return (
    <Button
      size="xs"
      variant="light"
      aria-label={`Apply: ${relaxation.change}`}
      loading={edit.isPending}
      onClick={() => edit.mutate(step.edit)}
    >
      Apply
    </Button>
  );
}

function Found({ why, job }: { why: Schemas['Why']; job: Job }) {
  const groups = why.groups ?? [];
  const relaxations = why.relaxations ?? [];
  return (
    <Stack gap="sm">
      <Text>{`${why.summary.charAt(0).toUpperCase()}${why.summary.slice(1)}.`}</Text>
      {(why.unproved ?? []).map((m) => (
        <Text key={m.offer} size="sm">
          {`${m.machine} (${m.name}) is not yet proved${m.busy ? `: ${busyText(m.busy)}` : ''}.`}
        </Text>
      ))}
      {relaxations.length > 0 && (
        <div>
          <Title order={3} size="h5" mb={4}>
            Changes that would help, cheapest first
          </Title>
          <Stack gap={6}>
            {relaxations.map((r) => (
              <Group key={r.kind + r.change} gap="sm">
                <Text size="sm">{relaxationText(r)}</Text>
                <Action relaxation={r} job={job} />
              </Group>
            ))}
          </Stack>
        </div>
      )}
      {groups.length > 0 && (
        <div>
          <Title order={3} size="h5" mb={4}>
            Offers of class {job.class} that do not match
          </Title>
          <List size="sm">
            {groups.map((g) => (
              <List.Item key={g.example}>
                {`${count(g.offers, 'offer')} with ${count(g.slots, 'slot')} ${obstacleText(g.obstacles ?? [], g.offers)}`}
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </Stack>
  );
}

// Why a job does not run, or has fewer workers than it may, and what would change that.
export function Why({ job }: { job: Job }) {
  const query = useGet('/v1/jobs/{id}/why', { path: { id: job.id } });
  return (
    <Panel title={job.held === 0 ? 'Why is it not running?' : 'Why are there not more workers?'}>
      <Loaded query={query} height={120}>
        {(why) => <Found why={why} job={job} />}
      </Loaded>
    </Panel>
  );
}
