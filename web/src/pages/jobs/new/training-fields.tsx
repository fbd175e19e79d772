import { Collapse, NumberInput, Select, SimpleGrid, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import type { Schemas } from '../../../api/client';
import { aboutOf } from '../../../parts/parameters';
import { type Form, NumberField } from './fields';

const named = (choices: { name: string }[] | undefined) =>
  (choices ?? []).map((c) => ({ value: c.name, label: c.name }));

// One parameter of the aggregator, as its row says. What is empty is not in the job file.
function AggregatorField({ form, row: p }: { form: Form; row: Schemas['Parameter'] }) {
  const { [p.name]: value, ...others } = form.draft.ruleOptions;
  return (
    <NumberInput
      label={p.name}
      description={aboutOf(p)}
      min={p.low ?? 0}
      max={p.high}
      allowDecimal={p.type !== 'whole'}
      value={typeof value === 'number' ? value : ''}
      onChange={(n) => form.edit({ ruleOptions: typeof n === 'number' ? { ...others, [p.name]: n } : others })}
    />
  );
}

// How long and how a model is trained.
export function TrainingFields({
  form,
  choices,
}: {
  form: Form;
  choices: Schemas['TrainingChoices'] | undefined;
}) {
  const [open, { toggle }] = useDisclosure(false);
  const rule = choices?.rules?.find((r) => r.name === form.draft.rule);
  const codec = choices?.codecs?.find((c) => c.name === form.draft.codec);
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberField
          form={form}
          field="epochs"
          label="Epochs"
          description="passes over the data, at most"
          min={1}
          allowDecimal={false}
          placeholder="10"
        />
        <NumberField
          form={form}
          field="target"
          label="Target accuracy"
          description="ends as soon as it is reached"
          step={0.01}
          max={1}
          placeholder="none"
        />
      </SimpleGrid>
      <UnstyledButton onClick={toggle} aria-expanded={open} fz="sm">
        {open ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />} How it
        learns: batch, rate, rule, codec
      </UnstyledButton>
      <Collapse in={open}>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <NumberField
            form={form}
            field="batch"
            label="Batch"
            description="samples in a step"
            min={1}
            allowDecimal={false}
            placeholder="32"
          />
          <span />
          <NumberField
            form={form}
            field="lr"
            label="Learning rate"
            description="at the start"
            step={0.01}
            placeholder="0.05"
          />
          <NumberField
            form={form}
            field="lrEnd"
            label="Rate at the end"
            description="reached along a cosine"
            step={0.001}
            placeholder="the same"
          />
          <Select
            label="Aggregator"
            description={rule?.summary ?? 'how updates are folded into the parameters'}
            placeholder="delayed-nesterov"
            data={named(choices?.rules)}
            value={form.draft.rule || null}
            onChange={(value) => form.edit({ rule: value ?? '', ruleOptions: {} })}
            clearable
            searchable
          />
          {(rule?.parameters ?? []).map((p) => (
            <AggregatorField key={p.name} form={form} row={p} />
          ))}
          <Select
            label="Codec"
            description={codec?.summary ?? 'how updates travel'}
            placeholder="fp32"
            data={named(choices?.codecs)}
            value={form.draft.codec || null}
            onChange={(value) => form.edit({ codec: value ?? '' })}
            clearable
          />
        </SimpleGrid>
      </Collapse>
    </>
  );
}
