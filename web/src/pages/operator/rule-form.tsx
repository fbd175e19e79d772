import { Select, SimpleGrid, TextInput } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { MechanismAbout } from '../../parts/mechanism-about';
import { firstParams, onlyForLab, parametersOf } from '../../parts/mechanism-words';
import type { Rule } from './class';

const kProgram: Schemas['Mechanism'] = {
  name: 'external',
  summary: 'A program of yours clears each round; a rule of the market takes over when it misbehaves.',
  properties: 'whatever it promises; every outcome is checked before it counts',
};

type Props = {
  label: string;
  mechanisms: Schemas['Mechanism'][];
  value: Rule;
  onChange: (rule: Rule) => void;
};

// A mechanism, its parameters, and what it means.
export function RuleForm({ label, mechanisms, value, onChange }: Props) {
  const known = [...mechanisms.filter((m) => !onlyForLab(m.properties)), kProgram];
  const chosen = known.find((m) => m.name === value.mechanism);
  const set = (name: string, text: string) => onChange({ ...value, params: { ...value.params, [name]: text } });
  return (
    <>
      <Select
        label={label}
        data={known.map((m) => m.name)}
        value={value.mechanism}
        onChange={(name) => name && onChange({ mechanism: name, params: firstParams(name) })}
        allowDeselect={false}
        searchable
        maw={320}
      />
      {chosen && <MechanismAbout mechanism={chosen} />}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {parametersOf(value.mechanism).map((p) =>
          p.choices ? (
            <Select
              key={p.name}
              label={p.label}
              description={p.about}
              data={p.choices}
              value={value.params[p.name] ?? p.choices[0] ?? null}
              onChange={(choice) => set(p.name, choice ?? '')}
              allowDeselect={false}
            />
          ) : (
            <TextInput
              key={p.name}
              label={p.label}
              description={p.about}
              required={p.needed ?? false}
              value={value.params[p.name] ?? ''}
              onChange={(e) => set(p.name, e.currentTarget.value)}
            />
          ),
        )}
      </SimpleGrid>
    </>
  );
}
