import { Button, Group, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { editOf, type Edits, type FieldInfo, groups, shown, wrong } from './settings-fields';

const kUnits = { percent: '%', credits: 'cr', time: '', switch: '' };

function Input({ info, value, set }: { info: FieldInfo; value: string; set: (text: string) => void }) {
  const { label, about, kind, field } = info;
  if (kind === 'switch')
    return (
      <Switch
        label={label}
        description={about}
        checked={value === 'true'}
        onChange={(e) => set(String(e.currentTarget.checked))}
        mt="md"
      />
    );
  return (
    <TextInput
      label={label}
      description={about}
      value={value}
      onChange={(e) => set(e.currentTarget.value)}
      error={wrong(field, value)}
      inputMode={kind === 'time' ? 'text' : 'decimal'}
      rightSection={kUnits[kind]}
    />
  );
}

function Form({ settings }: { settings: Schemas['Settings'] }) {
  const [edits, setEdits] = useState<Edits>({});
  const edit = editOf(settings, edits);
  const changed = Object.keys(edit).length;
  const bad = groups.some((g) => g.fields.some((f) => wrong(f.field, shown(settings, edits, f.field))));
  const save = useChange(() => change('patch', '/v1/settings', { body: edit }), {
    said: 'The settings are changed.',
    done: () => setEdits({}),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed > 0 && !bad) save.mutate();
  };
  return (
    <Stack gap="lg" component="form" onSubmit={submit}>
      {groups.map(({ title, fields }) => (
        <Panel key={title} title={title}>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg" style={{ alignItems: 'end' }}>
            {fields.map((info) => (
              <Input
                key={info.field}
                info={info}
                value={shown(settings, edits, info.field)}
                set={(text) => setEdits({ ...edits, [info.field]: text })}
              />
            ))}
          </SimpleGrid>
        </Panel>
      ))}
      <Group gap="xs">
        <Button type="submit" disabled={changed === 0 || bad} loading={save.isPending}>
          Save the settings
        </Button>
        <Button variant="default" disabled={Object.keys(edits).length === 0} onClick={() => setEdits({})}>
          Undo
        </Button>
      </Group>
    </Stack>
  );
}

export function Settings() {
  const settings = useGet('/v1/settings', {});
  return (
    <Loaded query={settings} height={640}>
      {(s) => <Form settings={s} />}
    </Loaded>
  );
}
