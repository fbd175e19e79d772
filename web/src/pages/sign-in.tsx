import { Alert, Button, Center, Loader, Paper, PasswordInput, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { ApiError } from '../api/client';
import { change, useChange, useGet } from '../api/queries';
import { enter } from '../session';

const Worth = lazy(() => import('../parts/worth').then(({ Worth }) => ({ default: Worth })));

// Logging in and signing up. The answer sets a cookie that scripts cannot read.
export function SignIn({ ended }: { ended: boolean }) {
  const client = useQueryClient();
  const ready = useGet('/readyz', {}, { enabled: !ended });
  const isNew = ready.isFetchedAfterMount && ready.data?.new_market === true;
  const [chosen, setMode] = useState<'in' | 'up'>();
  const mode = chosen ?? (isNew ? 'up' : 'in');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [asked, setAsked] = useState(false);
  const going = useChange(
    async () =>
      mode === 'in'
        ? await change('post', '/v1/login', { body: { name, password, label: 'console' } })
        : await change('post', '/v1/accounts', { body: { name, password } }),
    { quiet: true, done: (session) => enter(client, session.account) },
  );
  // What it begins with is known after the first answer, also after one that the market is not ready.
  if (ready.isLoading && ready.failureCount === 0)
    return (
      <Center mih="100vh">
        <Loader aria-label="loading" />
      </Center>
    );
  const refused = going.error instanceof ApiError ? going.error : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    going.mutate();
  };
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w="100%" maw={380}>
        <div>
          <Title order={1}>Souk</Title>
          <Text c="dimmed">A community market of computers for machine learning.</Text>
        </div>
        {ended && <Alert color="yellow">Your session has ended. Log in to continue where you were.</Alert>}
        {isNew && <Alert color="blue">This market is new. The first account runs it.</Alert>}
        <Paper withBorder p="lg" component="form" onSubmit={submit}>
          <Stack>
            <SegmentedControl
              fullWidth
              aria-label="log in or sign up"
              value={mode}
              onChange={(value) => {
                setMode(value as 'in' | 'up');
                going.reset();
              }}
              data={[
                { value: 'in', label: 'Log in' },
                { value: 'up', label: 'Sign up' },
              ]}
            />
            <TextInput
              label="Name"
              autoComplete="username"
              required
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
              error={refused?.field === 'name' && `${refused.message}: ${refused.hint}`}
            />
            <PasswordInput
              label="Password"
              autoComplete={mode === 'in' ? 'current-password' : 'new-password'}
              {...(mode === 'up' ? { description: 'A long one. A sentence is good.' } : {})}
              error={refused?.field === 'password' && `${refused.message}: ${refused.hint}`}
              required
              value={password}
              onChange={(e) => setPassword(e.currentTarget.value)}
            />
            {refused && refused.field !== 'password' && refused.field !== 'name' && (
              <Alert color="red" role="alert" title={refused.message}>
                {refused.hint}
              </Alert>
            )}
            <Button type="submit" loading={going.isPending}>
              {mode === 'in' ? 'Log in' : 'Sign up'}
            </Button>
          </Stack>
        </Paper>
        {asked ? (
          <Paper withBorder p="lg">
            <Suspense fallback={<Loader size="sm" aria-label="loading" />}>
              <Worth />
            </Suspense>
          </Paper>
        ) : (
          <Button variant="subtle" size="xs" onClick={() => setAsked(true)}>
            What would my machine earn here?
          </Button>
        )}
      </Stack>
    </Center>
  );
}
