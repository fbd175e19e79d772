import { NumberInput, type NumberInputProps, TagsInput, TextInput, type TextInputProps } from '@mantine/core';
import type { Draft, Num } from '../file/draft';
import type { Problems } from './terms';

// Inputs of the form, each bound to one field of the draft.

export type Form = { draft: Draft; edit: (change: Partial<Draft>) => void; problems?: Problems };

type KeyOf<T> = { [K in keyof Draft]: Draft[K] extends T ? K : never }[keyof Draft];
type TextKey = Exclude<KeyOf<string>, 'kind'>;
type NumberKey = Exclude<{ [K in keyof Draft]: Num extends Draft[K] ? K : never }[keyof Draft], undefined>;
type ListKey = KeyOf<string[]>;

export function TextField({
  form,
  field,
  ...rest
}: { form: Form; field: TextKey } & Omit<TextInputProps, 'form'>) {
  return (
    <TextInput
      {...rest}
      value={form.draft[field]}
      onChange={(e) => form.edit({ [field]: e.currentTarget.value })}
      error={form.problems?.[field]}
    />
  );
}

export function NumberField({
  form,
  field,
  ...rest
}: { form: Form; field: NumberKey } & Omit<NumberInputProps, 'form'>) {
  return (
    <NumberInput
      min={0}
      decimalScale={6}
      allowNegative={false}
      {...rest}
      value={form.draft[field]}
      onChange={(value) => form.edit({ [field]: typeof value === 'number' ? value : '' })}
      error={form.problems?.[field]}
    />
  );
}

type ListProps = { form: Form; field: ListKey; label: string; description?: string; placeholder?: string };

export function ListField({ form, field, ...rest }: ListProps) {
  return (
    <TagsInput
      {...rest}
      value={form.draft[field]}
      onChange={(value) => form.edit({ [field]: value })}
      acceptValueOnBlur
    />
  );
}
