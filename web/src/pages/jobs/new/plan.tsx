import { Alert, Button, Group, List, Loader, Stack, Text } from '@mantine/core';
import { bytes, count, credits, percent, seconds } from '../../../format';
import type { Schemas } from '../../../api/client';
import { ErrorBox } from '../../../parts/error-box';
import { Fact } from '../../../parts/fact';
import { Money } from '../../../parts/money';
import { capital } from '../job/figures';
import { rangeWords, restsOn } from '../job/money';
import { CandidatesTable } from './candidates-table';
import { type Candidate, type NewJob, withChoice } from './candidates';
import { Pareto } from './pareto';
import { canRun, priceTrouble } from './prices';
import type { Planned, usePlan } from './use-plan';

function Terms({ job, available }: { job: NewJob; available: number }) {
  const { min = 1, max = 1 } = job.workers ?? {};
  return (
    <Text size="sm">
      {job.budget > available
        ? `This would set aside ${credits(job.budget)} credits; you have ${credits(available)}. `
        : `Up to ${credits(job.budget)} of your ${credits(available)} credits are set aside; what is not spent comes back. `}
      {`${min === max ? max : `${min} to ${max}`} ${max === 1 ? 'worker' : 'workers'}`}
      {job.class && ` of class ${[job.class, ...(job.also_classes ?? [])].join(' or ')}`}
      {job.limit !== undefined && `, at most ${credits(job.limit)} per slot-hour`}.
    </Text>
  );
}

// What is asked, suggested and would be paid now, beside the limit.
function Prices({ prices = [], elsewhere }: { prices?: Schemas['PlanPrices'][]; elsewhere?: string }) {
  const trouble = (p: Schemas['PlanPrices']) =>
    p.cheapest === undefined && elsewhere !== undefined ? `${capital(elsewhere)}.` : priceTrouble(p);
  return prices.map((p) => (
    <Stack key={p.class} gap="xs">
      <Group gap="xl" align="flex-start">
        <Fact label="You would pay now" about={p.pays === undefined ? '' : `per slot-hour, for ${count(p.workers, 'worker')}`}>
          {p.pays === undefined ? '–' : <Money amount={p.pays} />}
        </Fact>
        <Fact label={prices.length > 1 ? `Cheapest ask, ${p.class}` : 'Cheapest ask that fits'}>
          {p.cheapest === undefined ? 'none' : <Money amount={p.cheapest} />}
        </Fact>
        <Fact label="Suggested">
          <Money amount={p.suggested} />
        </Fact>
        <Fact label="Your limit" about={p.limit_given ? '' : 'you set none: twice the suggested price'}>
          <Money amount={p.limit} />
        </Fact>
      </Group>
      {trouble(p) !== '' && <Alert color="yellow">{trouble(p)}</Alert>}
    </Stack>
  ));
}

function whyText({ candidates = [], why, guessed, runs, method }: Planned['plan']): string {
  const choice = candidates.some((c) => c.chosen) ? 'Recommended' : 'None is recommended';
  const ranges = guessed
    ? `; so far they are a guess, based on ${count(runs, 'run')} of this kind`
    : '';
  if (method !== 'runs')
    return `${choice}: ${why}. This is ${method === 'guess' ? 'a guess: nothing like it has run here' : restsOn({ method, runs })}, so the ranges are guesses too.`;
  return `${choice}: ${why}. Ranges hold 8 of 10 runs${ranges}.`;
}

// What earlier runs of the kind showed.
function measuresText({ measures: m, target_after }: Planned['plan']): string {
  const parts = (m?.steps ?? []).map(
    ({ batch, steps, compute }) =>
      `a step with a batch of ${batch} computes for ${((1000 * seconds(compute)) / Math.max(1, steps)).toPrecision(3)} ms`,
  );
  if (m?.unit_bytes) parts.push(`a unit moves ${bytes(m.unit_bytes)}, ${m.mbps.toPrecision(3)} Mbps a worker`);
  if (m?.memory_bytes) parts.push(`a worker used up to ${bytes(m.memory_bytes)} of memory`);
  if (target_after !== undefined)
    parts.push(`the target is expected after ${percent(target_after)} of the epochs`);
  return parts.length > 0 ? `Measured: ${parts.join('; ')}.` : '';
}

function NoForecast({ planned, plan }: { planned: Planned; plan: ReturnType<typeof usePlan> }) {
  const trains = planned.job.batch?.train !== undefined;
  return (
    <Alert color="blue" title={trains ? 'No quote yet' : 'A quote follows when the first part is done'}>
      <Text size="sm">{`${planned.plan.why.charAt(0).toUpperCase()}${planned.plan.why.slice(1)}.`}</Text>
      {trains && !planned.plan.profiled && canRun(planned.plan.prices) && (
        <Stack gap="xs" mt="xs">
          <Text size="sm">
            Souk can run the job on one worker for at most a minute, and then estimate the whole. You pay for
            that minute. You can also submit without a quote.
          </Text>
          {plan.measuring ? (
            <Group gap="xs">
              <Loader size="xs" />
              <Text size="sm" role="status">
                {plan.measuring}
              </Text>
              <Button size="xs" variant="default" onClick={plan.stopMeasuring}>
                Stop
              </Button>
            </Group>
          ) : (
            <Button size="xs" variant="default" w="fit-content" onClick={() => plan.learn(planned.job)}>
              Measure it first
            </Button>
          )}
        </Stack>
      )}
    </Alert>
  );
}

type Props = {
  plan: ReturnType<typeof usePlan>;
  picked: number | undefined; // Place of a candidate.
  onPick: (index: number) => void;
  available: number;
};

export function chosenIn(planned: Planned, picked: number | undefined): Candidate | undefined {
  return picked === undefined ? undefined : planned.plan.candidates?.[picked];
}

function Choice({ planned, plan, picked, onPick, available }: Props & { planned: Planned }) {
  const candidates: Candidate[] = planned.plan.candidates ?? [];
  const choice = chosenIn(planned, picked);
  const deadline = planned.job.deadline ? (Date.parse(planned.job.deadline) - Date.now()) / 1000 : undefined;
  return (
    <Stack>
      {planned.notes.length > 0 && (
        <List size="sm">
          {planned.notes.map((note) => (
            <List.Item key={note}>{note}</List.Item>
          ))}
        </List>
      )}
      {candidates.length === 0 ? (
        <NoForecast planned={planned} plan={plan} />
      ) : (
        <>
          <Pareto candidates={candidates} picked={picked} onPick={onPick} deadline={deadline} />
          <Text size="xs" c="dimmed">
            Time against cost. The number at a point is its number of workers, its lines show the ranges. The
            dashed line joins the candidates that no other one beats in both.
          </Text>
          <CandidatesTable
            candidates={candidates}
            ranges={rangeWords(planned.plan)}
            picked={picked}
            onPick={onPick}
          />
          <Text size="sm">{whyText(planned.plan)}</Text>
          <Text size="xs" c="dimmed">
            {measuresText(planned.plan)}
          </Text>
        </>
      )}
      <Prices prices={planned.plan.prices} elsewhere={planned.plan.elsewhere} />
      <Terms job={withChoice(planned.job, choice)} available={available} />
    </Stack>
  );
}

// The last step: what it would take and cost, before anything is spent.
export function PlanStep(props: Props) {
  const { plan } = props;
  if (plan.making)
    return (
      <Group mih={200} justify="center" role="status">
        <Loader size="sm" />
        <Text size="sm">Reading the job file, splitting its data and making the plan</Text>
      </Group>
    );
  if (plan.error && !plan.fresh) return <ErrorBox error={plan.error} retry={plan.make} />;
  if (!plan.planned || !plan.fresh)
    return (
      <Stack mih={200} align="flex-start">
        <Text size="sm">
          {plan.planned ? 'The job has changed since the plan was made.' : 'There is no plan yet.'}
        </Text>
        <Button onClick={plan.make}>Make the plan</Button>
      </Stack>
    );
  return <Choice {...props} planned={plan.planned} />;
}
