import { TextInput, type TextInputProps } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';

type Props = Omit<TextInputProps, 'value' | 'onChange'> & { value: string; onChange: (text: string) => void };

// What a list is searched with. Give a label, or an aria-label.
export function Search({ onChange, ...rest }: Props) {
  return (
    <TextInput
      type="search"
      leftSection={<IconSearch size={16} aria-hidden />}
      maw={320}
      {...rest}
      onChange={(e) => onChange(e.currentTarget.value)}
    />
  );
}
