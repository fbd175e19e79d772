import { Group, Paper, type PaperProps, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

type Props = PaperProps & { title: string; actions?: ReactNode; children: ReactNode };

// A titled region of a page.
export function Panel({ title, actions, children, ...rest }: Props) {
  const id = useId();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id} {...rest}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </Paper>
  );
}
