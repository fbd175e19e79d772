import { Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { ErrorBox } from './error-box';

type PageProps = { title: string; about?: ReactNode; actions?: ReactNode; children: ReactNode };

// A page: its heading is also the window's title.
export function Page({ title, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Souk`;
  }, [title]);
  return (
    <Stack gap="lg" maw={1240} mx="auto">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div style={{ minWidth: 0 }}>
          <Title order={1} size="h2">
            {title}
          </Title>
          {about && (
            <Text c="dimmed" size="sm" component="div">
              {about}
            </Text>
          )}
        </div>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

// The answer of a query once it is there; before that a gray box of the same height, so that
// nothing jumps.
export function Loaded<T>({
  query,
  height = 120,
  children,
}: {
  query: { data?: T | undefined; error: unknown; refetch: () => unknown };
  height?: number;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  return <Skeleton height={height} aria-label="loading" />;
}
