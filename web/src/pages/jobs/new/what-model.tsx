import { Select, SimpleGrid, Stack } from '@mantine/core';
import type { Schemas } from '../../../api/client';
import { type Form, TextField } from './fields';
import { TrainingFields } from './training-fields';

const named = (choices: Schemas['Choice'][] | undefined) =>
  (choices ?? []).map((c) => ({ value: c.name, label: c.name }));
const about = (choices: Schemas['Choice'][] | undefined, name: string) =>
  choices?.find((c) => c.name === name)?.summary ?? '';

// A model that Souk brings, on data that it brings.
export function ModelAndData({
  form,
  choices,
}: {
  form: Form;
  choices: Schemas['TrainingChoices'] | undefined;
}) {
  const { draft, edit, problems } = form;
  return (
    <Stack>
      <TextField form={form} field="name" label="Name" placeholder="what to call it" maxLength={40} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Model"
          description={about(choices?.models, draft.model)}
          data={named(choices?.models)}
          value={draft.model || null}
          onChange={(value) => edit({ model: value ?? '', modelOptions: {} })}
          error={problems?.model}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          searchable
        />
        <Select
          label="Data"
          description={about(choices?.data, draft.data)}
          data={named(choices?.data)}
          value={draft.data || null}
          onChange={(value) => edit({ data: value ?? '' })}
          error={problems?.data}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
        />
      </SimpleGrid>
      <TrainingFields form={form} choices={choices} />
    </Stack>
  );
}
