import { Select, SimpleGrid, TextInput } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { MechanismAbout } from '../../parts/mechanism-about';
import { aboutOf, firstParams, wrong } from '../../parts/parameters';
import type { Rule } from './class';

type Props = {
  label: string;
  mechanisms: Schemas['Mechanisms'];
  value: Rule;
  onChange: (rule: Rule) => void;
};

// One parameter of a mechanism, as its row says.
function Field({ row: p, value, onChange }: { row: Schemas['Parameter']; value: string; onChange: (text: string) => void }) {
  if (p.type === 'choice')
    return (
      <Select
        label={p.name}
        description={aboutOf(p)}
        data={p.choices ?? []}
        value={value || (p.default ?? null)}
        onChange={(choice) => onChange(choice ?? '')}
        allowDeselect={false}
      />
    );
  return (
    <TextInput
      label={p.name}
      description={aboutOf(p)}
      required={p.needed}
      error={value === '' ? undefined : wrong(p, value)}
      value={value}
      onChange={(e) => onChange(e.currentTarget.value)}
    />
  );
}

// A mechanism, its parameters, and what it means.
export function RuleForm({ label, mechanisms, value, onChange }: Props) {
  const live = (mechanisms.items ?? []).filter((m) => m.properties.live);
  const known = [...live, mechanisms.external];
  const parametersOf = (name: string) => known.find((m) => m.name === name)?.parameters ?? [];
  const chosen = known.find((m) => m.name === value.mechanism);
  return (
    <>
      <Select
        label={label}
        data={known.map((m) => m.name)}
        value={value.mechanism}
        onChange={(name) => name && onChange({ mechanism: name, params: firstParams(parametersOf(name)) })}
        allowDeselect={false}
        searchable
        maw={320}
      />
      {chosen && <MechanismAbout mechanism={chosen} />}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {parametersOf(value.mechanism).map((p) => (
          <Field
            key={p.name}
            row={p}
            value={value.params[p.name] ?? ''}
            onChange={(text) => onChange({ ...value, params: { ...value.params, [p.name]: text } })}
          />
        ))}
      </SimpleGrid>
    </>
  );
}
