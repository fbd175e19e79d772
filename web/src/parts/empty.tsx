import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

// Where there is nothing yet: what would be here, and how to get it.
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" ta="center">
      <Title order={3} size="h5">
        {title}
      </Title>
      {children && (
        <Text c="dimmed" size="sm" maw={480} component="div">
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}
