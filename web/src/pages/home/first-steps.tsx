import { Anchor, Group, List, Skeleton, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconCircleDashed } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useGet } from '../../api/queries';
import { AskCredits } from '../../parts/ask-credits';
import { Panel } from '../../parts/panel';
import { useMe } from '../../session';
import { type Step, stepsOf } from './checklist';

function Line({ step }: { step: Step }) {
  return (
    <List.Item
      icon={
        <ThemeIcon size={22} radius="xl" variant="light" color={step.done ? 'teal' : 'gray'}>
          {step.done ? <IconCheck size={14} aria-hidden /> : <IconCircleDashed size={14} aria-hidden />}
        </ThemeIcon>
      }
    >
      <Anchor component={Link} href={step.to} size="sm" fw={600} td={step.done ? 'line-through' : undefined}>
        {step.text}
      </Anchor>
      <VisuallyHidden>{step.done ? ' (done)' : ' (to do)'}</VisuallyHidden>
      <Text size="xs" c="dimmed">
        {step.about}
      </Text>
    </List.Item>
  );
}

const kEnough = 100;

// While it is not known, as much room as it takes; who is done with it once never waits for it.
const kDone = 'souk.first-steps-done';

type Props = { machines: unknown[] | undefined; jobs: unknown[] | undefined };

// What to do first; gone when all of it is done.
export function FirstSteps({ machines, jobs }: Props) {
  const me = useMe();
  const offers = useGet('/v1/offers', { query: { limit: 1 } });
  const trainers = useGet('/v1/offers', { query: { where: 'packages=@torch', limit: 1 } }, { enabled: me.operator });
  const settings = useGet('/v1/settings', {});
  const accounts = useGet('/v1/accounts', { query: { limit: 2 } }, { enabled: me.operator });
  const requests = useGet('/v1/credits/requests', {}, { enabled: me.operator, every: 15_000 });
  const answers = [offers, settings, ...(me.operator ? [accounts, requests, trainers] : [])];
  const wasDone = localStorage.getItem(kDone) === me.id;
  if (!machines || !jobs || answers.some((q) => q.data === undefined))
    return wasDone ? null : <Skeleton height={me.operator ? 450 : 480} aria-label="loading" />;
  const steps = stepsOf({
    operator: me.operator,
    name: me.name,
    credits: me.available + me.bonus + me.escrow,
    bonus: settings.data?.signup_bonus ?? 0,
    machines: machines.length,
    offers: offers.data?.items?.length ?? 0,
    jobs: jobs.length,
    others: (accounts.data?.items?.length ?? 1) - 1,
    asking: (requests.data?.items ?? []).filter((r) => r.answered === undefined).length,
    trains: (trainers.data?.items ?? []).length > 0,
  });
  if (steps.every((s) => s.done)) {
    if (!wasDone) localStorage.setItem(kDone, me.id);
    return null;
  }
  const poor = me.available + me.bonus + me.escrow === 0;
  return (
    <Panel title={me.operator ? 'You operate this market' : 'First steps'}>
      <Text size="sm" mb="sm">
        {me.operator
          ? 'You create its credits, choose how prices are made and answer requests. Begin with these:'
          : 'From here to a trained model. Planning costs nothing:'}
      </Text>
      <List spacing="sm" mb={poor ? 'md' : 0}>
        {steps.map((s) => (
          <Line key={s.text} step={s} />
        ))}
      </List>
      {poor && (
        <Group>
          {!me.operator && (
            <Text size="sm" w="100%">
              Or ask the operator for credits:
            </Text>
          )}
          <AskCredits amount={me.operator ? kEnough : 20} />
        </Group>
      )}
    </Panel>
  );
}
