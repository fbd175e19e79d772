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

interface Query<T> {
  data?: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

// Several queries as one, for what is shown once all have their answers: what stood below the first
// would jump with each of them.
export function together<T extends unknown[]>(...queries: { [K in keyof T]: Query<T[K]> }): Query<T> {
  const all: Query<unknown>[] = queries;
  return {
    data: all.every((q) => q.data !== undefined) ? (all.map((q) => q.data) as T) : undefined,
    error: all.find((q) => q.data === undefined && q.error)?.error,
    refetch: () => all.forEach((q) => q.data === undefined && q.refetch()),
  };
}

// The answer of a query once it is there; before that a gray box of the same height, so that
// nothing jumps.
export function Loaded<T>({
  query,
  height = 120,
  children,
}: {
  query: Query<T>;
  height?: number;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  return <Skeleton height={height} aria-label="loading" />;
}
