import { Alert, MultiSelect, SegmentedControl, Select, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../../api/client';
import { bytes, count, credits } from '../../../format';
import { type Form, ListField, NumberField, TextField } from './fields';
import { likelyClass } from './terms';
import { trains } from '../kinds';

type SlotClass = Schemas['SlotClass'];

const kMiB = 1024 ** 2;

export function classText(c: SlotClass): string {
  const gpus = c.gpus > 0 ? `, ${count(c.gpus, 'GPU')} of ${bytes(c.gpu_memory_mib * kMiB)}` : '';
  return `${count(c.cores, 'core')}, ${bytes(c.memory_mib * kMiB)}${gpus}`;
}

function Size({ form, classes }: { form: Form; classes: SlotClass[] }) {
  const { draft, edit } = form;
  const [by, setBy] = useState<'class' | 'size'>(
    draft.class === '' && (draft.cores !== '' || draft.memory !== '' || draft.gpus !== '') ? 'size' : 'class',
  );
  const found = likelyClass(draft, classes);
  const choices = classes
    .filter((c) => !c.retired)
    .map((c) => ({
      value: c.name,
      label: `${c.name}: ${classText(c)}, suggested ${credits(c.suggested)}, ${c.offered} on offer`,
    }));
  return (
    <>
      <SegmentedControl
        aria-label="How to say what a worker needs"
        value={by}
        onChange={(value) => {
          setBy(value as 'class' | 'size');
          edit(value === 'class' ? { cores: '', memory: '', gpus: '', gpuMemory: '' } : { class: '', also: [] });
        }}
        data={[
          { value: 'class', label: 'A slot class' },
          { value: 'size', label: 'Cores, memory, GPUs' },
        ]}
      />
      {by === 'class' ? (
        <>
          <Select
            label="Slot class"
            placeholder={found ? `the smallest: ${found.name}` : ''}
            data={choices}
            value={draft.class || null}
            onChange={(value) =>
              edit({ class: value ?? '', also: value ? draft.also.filter((c) => c !== value) : [] })
            }
            error={form.problems?.class}
            clearable
            searchable
          />
          {trains(draft.kind) && draft.class !== '' && (
            <MultiSelect
              label="Other classes it may use"
              description="the job starts in the best one, and moves when another becomes better"
              placeholder={draft.also.length ? '' : 'none'}
              data={choices.filter((c) => c.value !== draft.class)}
              value={draft.also}
              onChange={(also) => edit({ also })}
              maxValues={8}
              searchable
            />
          )}
        </>
      ) : (
        <SimpleGrid cols={{ base: 2, sm: 4 }}>
          <NumberField form={form} field="cores" label="Cores" min={1} allowDecimal={false} placeholder="1" />
          <TextField form={form} field="memory" label="Memory" placeholder="4G" />
          <NumberField form={form} field="gpus" label="GPUs" allowDecimal={false} placeholder="0" />
          <TextField form={form} field="gpuMemory" label="GPU memory" placeholder="16G" />
        </SimpleGrid>
      )}
      <Text size="sm" c="dimmed" mih={20}>
        {found && `Each worker gets a slot of class ${found.name}: ${classText(found)}.`}
      </Text>
    </>
  );
}

// The second step: how large, how many, and which machines.
export function Needs({ form, classes, unread }: { form: Form; classes: SlotClass[]; unread: boolean }) {
  if (unread)
    return <Alert color="yellow">The form cannot show this job file. The file is used as you wrote it.</Alert>;
  return (
    <Stack>
      <Title order={3} size="h5">
        One worker
      </Title>
      <Size form={form} classes={classes} />
      <Title order={3} size="h5">
        How many workers
      </Title>
      <SimpleGrid cols={2}>
        <NumberField
          form={form}
          field="least"
          label="At least"
          description="the job starts with this many"
          min={1}
          allowDecimal={false}
          placeholder="1"
        />
        <NumberField
          form={form}
          field="most"
          label="At most"
          description="the job may grow to this many"
          min={1}
          allowDecimal={false}
          placeholder={String(form.draft.least || 1)}
        />
      </SimpleGrid>
      <Title order={3} size="h5">
        Which machines
      </Title>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberField
          form={form}
          field="minReliability"
          label="Reliability, at least"
          description="share of leases that the machine kept to the end"
          percent
          placeholder="any, or 95%"
        />
        <NumberField
          form={form}
          field="maxRtt"
          label="Network round trip, at most"
          description="in ms"
          allowDecimal={false}
          placeholder="any"
        />
        <ListField
          form={form}
          field="regions"
          label="Regions"
          placeholder={form.draft.regions.length ? '' : 'any'}
        />
        <ListField
          form={form}
          field="packages"
          label="Packages"
          placeholder={form.draft.packages.length ? '' : 'none'}
        />
        <ListField
          form={form}
          field="lenders"
          label="Only these lenders"
          placeholder={form.draft.lenders.length ? '' : 'everybody'}
        />
        <ListField
          form={form}
          field="refused"
          label="Never these lenders"
          placeholder={form.draft.refused.length ? '' : 'nobody'}
        />
      </SimpleGrid>
    </Stack>
  );
}
