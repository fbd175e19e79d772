import { Alert, Button, PasswordInput, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../api/client';
import { change, useChange } from '../../api/queries';
import { Panel } from '../../parts/panel';

export function Password({ name }: { name: string }) {
  const [old, setOld] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const save = useChange(
    () => change('post', '/v1/me/password', { body: { old_password: old, password: next } }),
    {
      quiet: true,
      said: 'Your password is changed. Your other sessions have ended. Your machines keep lending.',
      done: () => [setOld, setNext, setAgain].forEach((set) => set('')),
    },
  );
  const refused = save.error instanceof ApiError ? save.error : undefined;
  const differs = again !== '' && again !== next;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (next === again) save.mutate();
  };
  return (
    <Panel title="Change password">
      <form onSubmit={submit}>
        <Stack maw={380}>
          {/* For password managers: whose password it is. */}
          <input type="text" autoComplete="username" value={name} readOnly hidden />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            value={old}
            onChange={(e) => setOld(e.currentTarget.value)}
          />
          <PasswordInput
            label="New password"
            description="A long one. A sentence is good."
            error={refused?.field === 'password' && `${refused.message}: ${refused.hint}`}
            autoComplete="new-password"
            required
            value={next}
            onChange={(e) => setNext(e.currentTarget.value)}
          />
          <PasswordInput
            label="New password again"
            autoComplete="new-password"
            required
            value={again}
            error={differs && 'The two passwords differ.'}
            onChange={(e) => setAgain(e.currentTarget.value)}
          />
          {refused && refused.field !== 'password' && (
            <Alert color="red" role="alert" title={refused.message}>
              {refused.hint}
            </Alert>
          )}
          <Button type="submit" loading={save.isPending} disabled={differs || next === ''}>
            Change password
          </Button>
        </Stack>
      </form>
    </Panel>
  );
}
