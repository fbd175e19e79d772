import { Alert, SegmentedControl, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { Schemas } from '../../../api/client';
import { useGet } from '../../../api/queries';
import { Dropzone } from './dropzone';
import { type Form, TextField } from './fields';
import { TrainingFields } from './training-fields';
import { type DraftAction, type DraftState, needsFiles, type Source } from './use-draft';
import type { useUpload } from './use-upload';
import { ModelAndData } from './what-model';
import { OwnFiles, Program } from './what-own';
import { Samples } from './what-sample';
import { trains } from '../kinds';

const kSources: { value: Source; label: string }[] = [
  { value: 'sample', label: 'Sample' },
  { value: 'model', label: 'Model and data' },
  { value: 'own', label: 'Own folder' },
  { value: 'file', label: 'Job file' },
];

function summary({ draft }: DraftState): string {
  if (!trains(draft.kind))
    return draft.run ? 'It runs a program.' : 'It does not say what to run yet. Add run: or kind: train.';
  const on = draft.data || draft.dataFiles.train.join(', ') || '(no data yet)';
  return `It trains ${draft.model || draft.script || '(no model yet)'} on ${on}.`;
}

function FromFile({ state, upload }: { state: DraftState; upload: ReturnType<typeof useUpload> }) {
  const kept = Object.keys(state.draft.rest);
  return (
    <Stack>
      <Text size="sm">
        Paste or edit the job file beside this form (below it on a small screen). A change in
        one changes the other.
      </Text>
      {state.unread ? (
        <Alert color="yellow" title="The form cannot show this file">
          {state.unread}. The file is used as you wrote it. The server checks it when the plan is made.
        </Alert>
      ) : (
        <Text size="sm">{summary(state)}</Text>
      )}
      {!state.unread && kept.length > 0 && (
        <Text size="sm" c="dimmed">{`Only in the file: ${kept.join(', ')}.`}</Text>
      )}
      {(needsFiles(state.draft) || state.unread !== '') && (
        <>
          <Text size="sm">It names files. Send the folder they are in:</Text>
          <Dropzone {...upload} />
        </>
      )}
    </Stack>
  );
}

type CopyProps = {
  form: Form;
  from: Schemas['Job'];
  lost: string[];
  choices: Schemas['TrainingChoices'] | undefined;
};

function Copy({ form, from, lost, choices }: CopyProps) {
  return (
    <Stack>
      <Alert color="blue" title={`A copy of ${from.name || from.id}`}>
        It uses the same program, files and data. They are on the server already.
        {lost.length > 0 && ` Not copied: ${lost.join('; ')}.`}
      </Alert>
      <TextField form={form} field="name" label="Name" maxLength={40} />
      {from.batch?.train && <TrainingFields form={form} choices={choices} />}
      {from.batch && !from.batch.train && <Program form={form} />}
    </Stack>
  );
}

type Props = {
  state: DraftState;
  act: (action: DraftAction) => void;
  form: Form;
  upload: ReturnType<typeof useUpload>;
  from?: { job: Schemas['Job']; lost: string[] } | undefined;
};

// The first step: what is to run.
export function What({ state, act, form, upload, from }: Props) {
  const choices = useGet('/v1/training/choices', {}).data;
  const { source } = state;
  const narrow = useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false });
  return (
    <Stack>
      <SegmentedControl
        fullWidth
        orientation={narrow ? 'vertical' : 'horizontal'}
        aria-label="Start from"
        value={source}
        onChange={(value) => act({ do: 'source', source: value as Source })}
        data={source === 'clone' ? [{ value: 'clone', label: 'Copy' }, ...kSources] : kSources}
      />
      {source === 'sample' && (
        <Samples picked={state.sample} onPick={(sample) => act({ do: 'sample', sample })} />
      )}
      {source === 'model' && <ModelAndData form={form} choices={choices} />}
      {source === 'own' && <OwnFiles form={form} upload={upload} choices={choices} />}
      {source === 'file' && <FromFile state={state} upload={upload} />}
      {source === 'clone' && from && <Copy form={form} from={from.job} lost={from.lost} choices={choices} />}
    </Stack>
  );
}
