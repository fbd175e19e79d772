import {
  Button,
  FileButton,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconPlayerPlay, IconUpload } from '@tabler/icons-react';
import { type DragEvent, useMemo, useState } from 'react';
import { ApiError, type Schemas } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { duration, seconds } from '../../format';
import { ErrorBox } from '../../parts/error-box';
import { Panel } from '../../parts/panel';
import { type Draft, factsOf, withCount, withHorizon } from './scenario';

type Props = {
  scenarios: Schemas['LabScenarios'];
  draft: Draft;
  setDraft: (draft: Draft) => void;
  show: (id: string) => void;
};

function Limits({ limits: l }: { limits: Schemas['LabLimits'] }) {
  return (
    <Text size="xs" c="dimmed">
      A run may have {l.mechanisms} mechanisms, {l.seeds} seeds, {l.agents.toLocaleString('en')} agents and{' '}
      {duration(seconds(l.time))} of computing. Larger ones: souk lab run, on a computer of your own.
    </Text>
  );
}

function Knobs({ draft, setDraft }: Pick<Props, 'draft' | 'setDraft'>) {
  const mechanisms = useGet('/v1/mechanisms', {});
  const facts = useMemo(() => factsOf(draft.text), [draft.text]);
  const known = (mechanisms.data?.items ?? [])
    .filter((m) => facts.world === 'book' || m.properties.live)
    .map((m) => m.name);
  return (
    <>
      <TagsInput
        label="Mechanisms"
        description="To compare. Choose some, or write one with parameters: k-double:kappa=0.25"
        data={known}
        value={draft.mechanisms ?? facts.mechanisms}
        onChange={(list) => setDraft({ ...draft, mechanisms: list })}
        splitChars={[',', ' ']}
        clearable
      />
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} style={{ alignItems: 'end' }}>
        <NumberInput
          label="Seeds"
          description="More seeds give narrower intervals."
          min={1}
          max={200}
          allowDecimal={false}
          value={draft.seeds ?? facts.seeds}
          onChange={(n) => setDraft({ ...draft, seeds: Math.max(1, Number(n) || 1) })}
        />
        {facts.horizon !== '' && (
          <TextInput
            label="Horizon"
            description={facts.world === 'book' ? 'Periods.' : 'As 7d or 12h.'}
            value={facts.horizon}
            onChange={(e) => setDraft({ ...draft, text: withHorizon(draft.text, e.currentTarget.value) })}
          />
        )}
        {facts.populations.map((p) => (
          <NumberInput
            key={`${p.side} ${p.name}`}
            label={p.name}
            description={p.side === 'lenders' ? 'Lenders.' : 'Borrowers.'}
            min={0}
            allowDecimal={false}
            value={p.count}
            onChange={(n) => setDraft({ ...draft, text: withCount(draft.text, p, Number(n) || 0) })}
          />
        ))}
      </SimpleGrid>
    </>
  );
}

// A scenario to run: from an example, a file or one's own hand.
export function StartPanel({ scenarios, draft, setDraft, show }: Props) {
  const examples = scenarios.items ?? [];
  const [over, setOver] = useState(false);
  const load = (text: string, example: string | null = null) => setDraft({ example, text });
  const read = async (file: File | null | undefined) => {
    if (file) load(await file.text());
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void read(event.dataTransfer.files[0]);
  };
  const run = useChange(
    () =>
      change('post', '/v1/lab/runs', {
        body: {
          scenario: draft.text,
          ...(draft.mechanisms ? { mechanisms: draft.mechanisms } : {}),
          ...(draft.seeds ? { seeds: draft.seeds } : {}),
        },
      }),
    { quiet: true, done: (made) => show(made.id) },
  );
  const chosen = examples.find((e) => e.name === draft.example);
  return (
    <Panel title="New run">
      <Stack gap="md">
        <Group align="end" gap="sm">
          <Select
            label="Start from an example"
            placeholder="Choose one"
            data={examples.map((e) => e.name)}
            value={draft.example}
            onChange={(name) => {
              const example = examples.find((e) => e.name === name);
              if (example) load(example.scenario, example.name);
            }}
            allowDeselect={false}
            w={260}
          />
          <FileButton accept=".yaml,.yml,text/*" onChange={(file) => void read(file)}>
            {(props) => (
              <Button {...props} variant="default" leftSection={<IconUpload size={16} />}>
                Open a file
              </Button>
            )}
          </FileButton>
        </Group>
        {chosen && <Text size="sm">{chosen.summary}</Text>}
        {draft.text !== '' && <Knobs draft={draft} setDraft={setDraft} />}
        <Textarea
          label="Scenario"
          description="YAML. A file can be dropped here; a key that does not exist is an error that names the nearest one."
          placeholder="Choose an example above, drop a file, or paste a scenario."
          autosize
          minRows={6}
          maxRows={24}
          spellCheck={false}
          value={draft.text}
          onChange={(e) => setDraft({ ...draft, text: e.currentTarget.value })}
          onDragOver={(e) => {
            e.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
          styles={{
            input: {
              fontFamily: 'var(--mantine-font-family-monospace)',
              fontSize: 13,
              ...(over ? { borderColor: 'var(--mantine-primary-color-filled)' } : {}),
            },
          }}
        />
        {run.error instanceof ApiError && <ErrorBox error={run.error} />}
        <Group gap="md">
          <Button
            leftSection={<IconPlayerPlay size={16} />}
            disabled={draft.text.trim() === ''}
            loading={run.isPending}
            onClick={() => run.mutate()}
          >
            Run
          </Button>
          <Limits limits={scenarios.limits} />
        </Group>
      </Stack>
    </Panel>
  );
}
