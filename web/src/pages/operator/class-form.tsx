import { Button, Group, Modal, NumberInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange } from '../../api/queries';
import { editFrom, formOf, newClass } from './class';

// Adds a slot class, or edits one.
export function ClassFormModal({ old, close }: { old?: Schemas['SlotClass']; close: () => void }) {
  const [form, setForm] = useState(old ? formOf(old) : newClass);
  const set = (key: keyof typeof form) => (value: number | string) => setForm({ ...form, [key]: Number(value) || 0 });
  const save = useChange(
    () => change('put', '/v1/classes/{name}', { path: { name: form.name.trim() }, body: editFrom(form, old) }),
    { said: old ? `${old.name} is changed.` : `${form.name} is added.`, done: close },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal opened onClose={close} title={old ? `Edit ${old.name}` : 'Add a slot class'}>
      <form onSubmit={submit}>
        <Stack>
          {!old && (
            <TextInput
              label="Name"
              description="Small letters and digits, such as c4 or g1."
              required
              value={form.name}
              onChange={(e) => setForm({ ...form, name: e.currentTarget.value })}
              data-autofocus
            />
          )}
          <SimpleGrid cols={2}>
            <NumberInput label="Cores" min={1} max={4096} allowDecimal={false} value={form.cores} onChange={set('cores')} />
            <NumberInput label="Memory" suffix=" GiB" min={0} value={form.memory} onChange={set('memory')} />
            <NumberInput label="GPUs" min={0} max={1024} allowDecimal={false} value={form.gpus} onChange={set('gpus')} />
            <NumberInput
              label="GPU memory"
              suffix=" GiB"
              min={0}
              disabled={form.gpus === 0}
              value={form.gpuMemory}
              onChange={set('gpuMemory')}
            />
          </SimpleGrid>
          <NumberInput
            label="Price"
            description="Credits per slot-hour, suggested before there is any history."
            min={0}
            decimalScale={6}
            step={0.1}
            value={form.price}
            onChange={set('price')}
          />
          {old && (
            <Text size="xs" c="dimmed">
              The size of a class is fixed as long as it has offers. Retire it and add another instead.
            </Text>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Close
            </Button>
            <Button type="submit" loading={save.isPending}>
              {old ? 'Save the class' : 'Add the class'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
