import {
  MultiSelect,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { Schemas } from '../../../api/client';
import { Dropzone } from './dropzone';
import { type Form, ListField, TextField } from './fields';
import { TrainingFields } from './training-fields';
import type { Folder } from './upload/folder';
import type { useUpload } from './use-upload';
import { isKind, kKinds, trains } from '../kinds';

const paths = (folder: Folder | undefined, like = /./) =>
  (folder?.items ?? []).filter((i) => i.file && like.test(i.path)).map((i) => i.path);
// What is named in the form is always among the choices, even before the folder is there.
const among = (list: string[], picked: string[]) => [...new Set([...list, ...picked])].filter(Boolean);

export function Program({ form }: { form: Form }) {
  return (
    <>
      <Textarea
        label="Command"
        description="for /bin/sh -c, in the folder; SOUK_INDEX is the number of the worker, SOUK_WORKERS how many there are"
        placeholder="exec python3 main.py --shard $SOUK_INDEX --of $SOUK_WORKERS"
        autosize
        minRows={2}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        value={form.draft.run}
        onChange={(e) => form.edit({ run: e.currentTarget.value })}
        error={form.problems?.run}
      />
      <ListField
        form={form}
        field="outputs"
        label="Outputs"
        description="files and folders to keep; * stands for any characters, ? for one"
        placeholder="model.pt"
      />
    </>
  );
}

function Script({
  form,
  folder,
  choices,
}: {
  form: Form;
  folder: Folder | undefined;
  choices: Schemas['TrainingChoices'] | undefined;
}) {
  const { draft, edit } = form;
  const { dataFiles } = draft;
  const files = paths(folder);
  const builtIn = choices?.data?.map((c) => c.name) ?? [];
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Script"
          description="a Python file that calls souk.worker()"
          data={among(paths(folder, /\.py$/), [draft.script])}
          value={draft.script || null}
          onChange={(value) => edit({ script: value ?? '' })}
          error={form.problems?.model && 'choose the script'}
          placeholder={folder ? 'choose' : 'drop the folder first'}
          searchable
        />
        <Select
          label="Data"
          description="files of your folder, or a built-in data set"
          data={[
            { value: '', label: 'files of the folder' },
            ...among(builtIn, [draft.data]).map((name) => ({ value: name, label: name })),
          ]}
          value={draft.data}
          onChange={(value) => edit({ data: value ?? '' })}
          allowDeselect={false}
        />
      </SimpleGrid>
      {draft.data === '' && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Select
            label="Format"
            data={['csv', 'idx', 'cifar10', 'text']}
            value={dataFiles.format}
            onChange={(value) => edit({ dataFiles: { ...dataFiles, format: value ?? 'csv' } })}
            allowDeselect={false}
          />
          <TextInput
            label="Label column"
            placeholder="the last one"
            disabled={dataFiles.format !== 'csv'}
            value={dataFiles.label}
            onChange={(e) => edit({ dataFiles: { ...dataFiles, label: e.currentTarget.value } })}
          />
          <MultiSelect
            label="Training files"
            data={among(files, dataFiles.train)}
            value={dataFiles.train}
            onChange={(train) => edit({ dataFiles: { ...dataFiles, train } })}
            error={form.problems?.data}
            searchable
          />
          <MultiSelect
            label="Test files"
            description="without any, a tenth of the training data is used"
            data={among(files, dataFiles.test)}
            value={dataFiles.test}
            onChange={(test) => edit({ dataFiles: { ...dataFiles, test } })}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            searchable
          />
        </SimpleGrid>
      )}
      <TrainingFields form={form} choices={choices} />
    </>
  );
}

type Props = {
  form: Form;
  upload: ReturnType<typeof useUpload>;
  choices: Schemas['TrainingChoices'] | undefined;
};

// A script or a program of one's own, with the files it needs.
export function OwnFiles({ form, upload, choices }: Props) {
  const { draft, edit } = form;
  return (
    <Stack>
      <Dropzone {...upload} />
      <SegmentedControl
        aria-label="What the folder is for"
        value={draft.kind}
        onChange={(kind) => isKind(kind) && edit({ kind, ...kKinds[kind].begin })}
        data={Object.entries(kKinds).map(([value, { label }]) => ({ value, label }))}
      />
      <TextField form={form} field="name" label="Name" placeholder="what to call it" maxLength={40} />
      {trains(draft.kind) ? (
        <Script form={form} folder={upload.sending.folder} choices={choices} />
      ) : (
        <Program form={form} />
      )}
      <ListField
        form={form}
        field="packages"
        label="Packages"
        description="Python packages that the machines must have"
        placeholder="numpy==1.26.4"
      />
      <Text size="xs" c="dimmed">
        Paths in the job file are inside the folder you sent.
      </Text>
    </Stack>
  );
}
