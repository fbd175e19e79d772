import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

// One number or word with its name above, for rows of facts.
export function Fact({ label, children, about }: { label: string; children: ReactNode; about?: ReactNode }) {
  return (
    <div style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} size="lg" className="numbers" component="div">
        {children}
      </Text>
      {about && (
        <Text size="xs" c="dimmed" component="div">
          {about}
        </Text>
      )}
    </div>
  );
}
