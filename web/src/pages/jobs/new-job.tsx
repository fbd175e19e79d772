import { Alert, Button, Grid, Group, Stepper, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { change, useChange, useGet } from '../../api/queries';
import { GetCredits } from '../../parts/get-credits';
import { Loaded, Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import type { Schemas } from '../../api/client';
import { useMe } from '../../session';
import type { Draft } from './file/draft';
import { draftOfJob, unsaid } from './file/of-job';
import type { NewJob } from './new/candidates';
import { beginClone, cloneOf } from './new/clone';
import { demandOf } from './new/demand';
import type { Form } from './new/fields';
import { Needs } from './new/needs';
import { PlanStep } from './new/plan';
import { Price } from './new/price';
import {
  dearestClass,
  likelyBudget,
  likelyLimit,
  mostWorkers,
  needsProblems,
  priceProblems,
  type Problems,
  shownProblems,
  whatProblems,
} from './new/terms';
import { useChoice } from './new/use-choice';
import { needsFiles, useDraft } from './new/use-draft';
import { usePlan } from './new/use-plan';
import { useUpload } from './new/use-upload';
import { What } from './new/what';
import { YamlPane } from './new/yaml-pane';
import styles from './new-job.module.css';

const kLast = 3;

// `sample`: its name, to begin with.
type StepsProps = { original?: Schemas['Job'] | undefined; slot: string; demand?: Partial<Draft>; sample?: string };

function Steps({ original, slot, demand, sample = '' }: StepsProps) {
  const me = useMe();
  // As it was when the page was opened: what happens to it meanwhile is no reason to begin again.
  const [clone] = useState(original);
  const [cloned] = useState(() => clone && beginClone(clone, draftOfJob(clone), Date.now(), slot));
  const [, go] = useLocation();
  const { state, act, yaml } = useDraft(cloned?.draft, demand);
  const samples = useGet('/v1/samples', {}, { enabled: sample !== '' });
  const first = samples.data?.items?.find((s) => s.name === sample);
  useEffect(() => {
    if (first && state.source === 'sample' && state.sample === '') act({ do: 'sample', sample: first });
  }, [first]);
  const upload = useUpload();
  const [active, setActive] = useState(0);
  // What is missing is said when somebody wants to go on.
  const [tried, setTried] = useState(false);
  const classes = useGet('/v1/classes', {}).data?.items ?? [];
  const available = me.available + me.bonus;
  const { draft } = state;
  const { digest } = upload.sending;
  const isClone = state.source === 'clone' && clone !== undefined;
  const inputs = (text: string) => `${text}\n${digest ?? ''}`;
  const plan = usePlan(inputs(yaml), async () => {
    if (isClone) {
      const budget = likelyBudget(draft, dearestClass(draft, classes), available);
      return { job: cloneOf(clone, draft, budget, Date.now()), notes: [] };
    }
    const made = await change('post', '/v1/jobs/prepare', {
      body: { yaml, ...(digest ? { files: digest } : {}) },
    });
    return { job: made.job, notes: made.notes ?? [] };
  });
  const choice = useChoice(plan, state, act, inputs);
  const { job } = choice;
  // Without credits a budget is left at nothing: then an hour of all workers.
  const need = job ? job.budget || likelyLimit(draft, dearestClass(draft, classes)) * mostWorkers(draft) : 0;
  const submit = useChange((body: NewJob) => change('post', '/v1/jobs', { body }), {
    said: 'Submitted.',
    done: (job) => go(`/jobs/${job.id}`),
  });

  // Who pressed Next below a long step begins the next one at its top.
  const steps = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if ((steps.current?.getBoundingClientRect().top ?? 0) < 0) steps.current?.scrollIntoView();
  }, [active]);

  const unread = state.unread !== '';
  const nothing = yaml.trim() === '';
  const problems: Problems[] = unread
    ? [{}, {}, {}]
    : // Of a file the server knows better what is missing.
      [
        isClone || nothing || state.source === 'file' ? {} : whatProblems(draft),
        needsProblems(draft, classes),
        priceProblems(draft, Date.now()),
      ];
  const sending = !isClone && needsFiles(draft) && upload.sending.busy;
  const blocked = nothing || problems.slice(0, active + 1).some((p) => Object.keys(p).length > 0);
  const form: Form = {
    draft,
    edit: (change) => act({ do: 'edit', change }),
    problems: shownProblems(problems[active] ?? {}, tried),
  };
  const show = (to: number) => {
    const stop = to > active && (blocked || (to === kLast && sending));
    setTried(stop);
    if (stop) return;
    setActive(to);
    if (to === kLast && !plan.fresh) plan.make();
  };
  const why = nothing
    ? 'First choose what to run.'
    : blocked
      ? Object.values(problems[active] ?? {})[0]
      : sending && 'The folder is still being uploaded.';

  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: active === kLast ? 8 : 7 }}>
        <Panel title="Describe the job">
          <Stepper
            ref={steps}
            active={active}
            onStepClick={show}
            size="sm"
            mb="md"
            classNames={{ root: styles['steps'] ?? '', step: styles['step'] ?? '', stepBody: styles['stepBody'] ?? '' }}
          >
            <Stepper.Step label="What" />
            <Stepper.Step label="Needs" />
            <Stepper.Step label="Price" />
            <Stepper.Step label="Plan" />
          </Stepper>
          {active === 0 && (
            <What
              state={state}
              act={act}
              form={form}
              upload={upload}
              from={isClone && cloned ? { job: clone, lost: cloned.lost } : undefined}
            />
          )}
          {active === 1 && <Needs form={form} classes={classes} unread={unread} />}
          {active === 2 && <Price form={form} classes={classes} available={available} unread={unread} />}
          {active === kLast && (
            <>
              <PlanStep plan={plan} picked={choice.picked} onPick={choice.pick} available={available} />
              {job && <GetCredits need={need} have={available} />}
            </>
          )}
          <Group justify="space-between" mt="lg">
            <Button variant="default" disabled={active === 0} onClick={() => setActive(active - 1)}>
              Back
            </Button>
            <Group gap="sm">
              <Text size="sm" c="dimmed" role="status">
                {active < kLast && tried && why}
              </Text>
              {active < kLast ? (
                <Button onClick={() => show(active + 1)}>
                  {active === kLast - 1 ? 'Make the plan' : 'Next'}
                </Button>
              ) : (
                <Button
                  disabled={!job || plan.measuring !== '' || need > available || need === 0}
                  loading={submit.isPending}
                  onClick={() => job && submit.mutate(job)}
                >
                  Submit
                </Button>
              )}
            </Group>
          </Group>
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: active === kLast ? 4 : 5 }} className={styles['beside']}>
        <YamlPane
          yaml={yaml}
          unread={state.unread}
          readOnly={isClone}
          onWrite={(text) => act({ do: 'write', text })}
          {...(choice.beside
            ? { about: `The form cannot change this file. The job is submitted with ${choice.beside}, as picked in the plan.` }
            : {})}
          {...(isClone ? { about: `Copied, but not shown in the file: ${unsaid(clone).join('; ')}.` } : {})}
        />
      </Grid.Col>
    </Grid>
  );
}

// Describes a job step by step, shows what it would take and cost, and submits it.
export default function NewJobPage() {
  const search = new URLSearchParams(useSearch());
  const from = search.get('from') ?? '';
  const [demand] = useState(() => demandOf(search));
  const original = useGet('/v1/jobs/{id}', { path: { id: from } }, { enabled: from !== '' });
  return (
    <Page title="New job" about="Nothing is spent before you have seen the plan and submitted.">
      {from === '' ? (
        <>
          {demand && (
            <Alert color="blue" title={`Renting from ${search.get('lender') ?? ''}`}>
              The job asks for class {demand.class} and for this lender alone; both can be changed under Needs. It
              runs on {search.get('machine') ?? 'one of their machines'} or on any other machine of theirs that fits.
            </Alert>
          )}
          <Steps slot="" sample={search.get('sample') ?? ''} {...(demand ? { demand } : {})} />
        </>
      ) : (
        <Loaded query={original} height={480}>
          {(job) => <Steps key={job.id} original={job} slot={search.get('class') ?? ''} />}
        </Loaded>
      )}
    </Page>
  );
}
