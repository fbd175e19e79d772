import { NumberInput, type NumberInputProps, TagsInput, TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { type Draft, keptInFile, type Num } from '../file/draft';
import type { Problems } from './terms';

// Inputs of the form, each bound to one field of the draft.

export type Form = { draft: Draft; edit: (change: Partial<Draft>) => void; problems?: Problems };

type KeyOf<T> = { [K in keyof Draft]: Draft[K] extends T ? K : never }[keyof Draft];
type TextKey = Exclude<KeyOf<string>, 'kind'>;
type NumberKey = Exclude<{ [K in keyof Draft]: Num extends Draft[K] ? K : never }[keyof Draft], undefined>;
type ListKey = KeyOf<string[]>;

// A value of the file that the form cannot show is not an empty field: the file keeps it.
function placeholderOf(form: Form, field: keyof Draft, otherwise: string | undefined): string | undefined {
  const kept = keptInFile(form.draft, field);
  return kept === undefined ? otherwise : `in the file: ${kept}`;
}

export function TextField({
  form,
  field,
  placeholder,
  ...rest
}: { form: Form; field: TextKey } & Omit<TextInputProps, 'form'>) {
  return (
    <TextInput
      {...rest}
      placeholder={placeholderOf(form, field, placeholder)}
      value={form.draft[field]}
      onChange={(e) => form.edit({ [field]: e.currentTarget.value })}
      error={form.problems?.[field]}
    />
  );
}

// A number as it is typed: "0." and "0.0" on the way to "0.05" stay on the screen. Nothing is rounded
// or moved into a range: a number that is out of range is an error at the field.
export function PlainNumber({
  value,
  onNumber,
  ...rest
}: { value: Num; onNumber: (n: Num) => void } & Omit<NumberInputProps, 'value' | 'onChange' | 'form'>) {
  const [typed, setTyped] = useState<string>();
  const shown = typed !== undefined && Number(typed) === value ? typed : value;
  return (
    <NumberInput
      min={0}
      allowNegative={false}
      clampBehavior="none"
      {...rest}
      value={shown}
      onChange={(now) => {
        setTyped(typeof now === 'string' ? now : undefined);
        onNumber(now === '' || !Number.isFinite(Number(now)) ? '' : Number(now));
      }}
    />
  );
}

// 0.999 <-> 99.9, without the noise of binary fractions.
export const toPercent = (share: Num): Num => (share === '' ? '' : Number((100 * share).toPrecision(12)));
export const fromPercent = (percent: Num): Num =>
  percent === '' ? '' : Number((percent / 100).toPrecision(12));

type NumberFieldProps = { form: Form; field: NumberKey; percent?: boolean } & Omit<NumberInputProps, 'form'>;

// `percent`: the draft has a share of 1, people write percent.
export function NumberField({ form, field, percent = false, placeholder, ...rest }: NumberFieldProps) {
  const value = form.draft[field];
  return (
    <PlainNumber
      {...rest}
      {...(percent ? { suffix: '%' } : {})}
      placeholder={placeholderOf(form, field, placeholder)}
      value={percent ? toPercent(value) : value}
      onNumber={(n) => form.edit({ [field]: percent ? fromPercent(n) : n })}
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
