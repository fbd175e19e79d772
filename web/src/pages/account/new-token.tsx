import { Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange } from '../../api/queries';
import { CopyLine } from '../../parts/copy-line';
import { Dialog } from '../../parts/dialog';
import { useMe } from '../../session';

const kExpiries = [
  { value: '7d', label: 'in a week' },
  { value: '30d', label: 'in 30 days' },
  { value: '90d', label: 'in 90 days' },
  { value: '365d', label: 'in a year' },
  { value: '', label: 'never' },
];

// A token for a program or another computer: shown once, as the market keeps only its hash.
export function NewToken() {
  const me = useMe();
  const [label, setLabel] = useState('');
  const [expiry, setExpiry] = useState('90d');
  const [scope, setScope] = useState<Schemas['Scope']>('user');
  const [token, setToken] = useState('');
  const make = useChange(
    () => change('post', '/v1/tokens', { body: { scope, label, ...(expiry ? { expires_in: expiry } : {}) } }),
    {
      done: (issued) => {
        setToken(issued.token);
        setLabel('');
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          label="Label"
          placeholder="what it is for"
          required
          maxLength={40}
          value={label}
          onChange={(e) => setLabel(e.currentTarget.value)}
        />
        <Select
          label="Expires"
          w={140}
          data={kExpiries}
          value={expiry}
          allowDeselect={false}
          onChange={(value) => setExpiry(value ?? '90d')}
        />
        {me.operator && (
          <Select
            label="May do"
            w={200}
            data={[
              { value: 'user', label: 'what users may' },
              { value: 'operator', label: 'what operators may' },
            ]}
            value={scope}
            allowDeselect={false}
            onChange={(value) => setScope(value === 'operator' ? value : 'user')}
          />
        )}
        <Button type="submit" loading={make.isPending} disabled={label.trim() === ''}>
          Make a token
        </Button>
      </Group>
      <Dialog opened={token !== ''} onClose={() => setToken('')} title="Your new token">
        <Stack>
          <Alert color="yellow">It is shown once. Copy it now; who has it can act as you.</Alert>
          <CopyLine text={token} label="the token" />
          <Text size="sm">For the command line and for programs:</Text>
          <CopyLine text={`export SOUK_SERVER=${window.location.origin} SOUK_TOKEN=${token}`} label="the line to export it" />
        </Stack>
      </Dialog>
    </form>
  );
}
