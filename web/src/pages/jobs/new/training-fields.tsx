import { Collapse, Select, SimpleGrid, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import type { Schemas } from '../../../api/client';
import { aboutOf } from '../../../parts/parameters';
import { type Form, NumberField, PlainNumber } from './fields';

const named = (choices: { name: string }[] | undefined) =>
  (choices ?? []).map((c) => ({ value: c.name, label: c.name }));

function outOfRange({ low, high, above_low }: Schemas['Parameter'], n: number): string | false {
  if (low !== undefined && (above_low ? n <= low : n < low))
    return `${above_low ? 'more than' : 'at least'} ${low}`;
  return high !== undefined && n > high ? `at most ${high}` : false;
}

// One parameter of the aggregator, as its row says. What is empty is not in the job file.
function AggregatorField({ form, row: p }: { form: Form; row: Schemas['Parameter'] }) {
  const { [p.name]: value, ...others } = form.draft.ruleOptions;
  return (
    <PlainNumber
      label={p.name}
      description={aboutOf(p)}
      allowDecimal={p.type !== 'whole'}
      value={typeof value === 'number' ? value : ''}
      onNumber={(n) => form.edit({ ruleOptions: n === '' ? others : { ...others, [p.name]: n } })}
      error={typeof value === 'number' && outOfRange(p, value)}
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
          description="the most passes over the data"
          min={1}
          allowDecimal={false}
          placeholder="10"
        />
        <NumberField
          form={form}
          field="target"
          label="Target accuracy"
          description="the training ends as soon as this is reached"
          percent
          placeholder="none, or 98.5%"
        />
      </SimpleGrid>
      <UnstyledButton onClick={toggle} aria-expanded={open} fz="sm">
        {open ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />} Learning:
        batch, rate, aggregator, codec
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
            description="the rate falls to this along a cosine"
            step={0.001}
            placeholder="the same"
          />
          <Select
            label="Aggregator"
            description={rule?.summary ?? 'how updates are combined into the model'}
            placeholder="mean"
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
            description={codec?.summary ?? 'how updates are compressed'}
            placeholder="auto, by each worker's link"
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
