import { Alert, Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange } from '../../api/queries';
import { credits } from '../../format';
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

// Of a token that can spend: it has an end.
const kSpendExpiries = [
  { value: '1h', label: 'in an hour' },
  { value: '24h', label: 'in a day' },
  { value: '7d', label: 'in a week' },
  { value: '30d', label: 'in 30 days' },
];

type Scope = Exclude<Schemas['Scope'], 'machine'>;

const kScopes: { value: Scope; label: string }[] = [
  { value: 'user', label: 'all that you may do' },
  { value: 'spend', label: 'run jobs, up to a limit' },
  { value: 'operator', label: 'all that operators may do' },
];

const aboutToken = (scope: Scope, limit: number) =>
  scope === 'spend'
    ? `It is shown once. Copy it now: anyone who has it can run jobs for ${credits(limit)} credits at most.`
    : 'It is shown once. Copy it now: anyone who has it can act as you.';

// A token for a program or another computer: shown once, as the market keeps only its hash.
export function NewToken() {
  const me = useMe();
  const [label, setLabel] = useState('');
  const [expiry, setExpiry] = useState('90d');
  const [scope, setScope] = useState<Scope>('user');
  const [limit, setLimit] = useState<string | number>(5);
  const [token, setToken] = useState('');
  const spends = scope === 'spend';
  const make = useChange(
    () =>
      change('post', '/v1/tokens', {
        body: {
          scope,
          label,
          ...(expiry ? { expires_in: expiry } : {}),
          ...(spends ? { limit: Number(limit) } : {}),
        },
      }),
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
          data={spends ? kSpendExpiries : kExpiries}
          value={expiry}
          allowDeselect={false}
          onChange={(value) => setExpiry(value ?? '')}
        />
        <Select
          label="Permissions"
          w={210}
          data={kScopes.filter((s) => s.value !== 'operator' || me.operator)}
          value={scope}
          allowDeselect={false}
          onChange={(value) => {
            setScope(kScopes.find((s) => s.value === value)?.value ?? 'user');
            setExpiry(value === 'spend' ? '24h' : '90d');
          }}
        />
        {spends && (
          <NumberInput
            label="Limit, in credits"
            w={140}
            min={0}
            decimalScale={6}
            value={limit}
            onChange={setLimit}
            required
          />
        )}
        <Button
          type="submit"
          loading={make.isPending}
          disabled={label.trim() === '' || (spends && !(Number(limit) > 0))}
        >
          Make a token
        </Button>
      </Group>
      <Dialog opened={token !== ''} onClose={() => setToken('')} title="Your new token">
        <Stack>
          <Alert color="yellow">{aboutToken(scope, Number(limit))}</Alert>
          <CopyLine text={token} label="the token" />
          <Text size="sm">For the command line and for programs:</Text>
          <CopyLine text={`export SOUK_SERVER=${window.location.origin} SOUK_TOKEN=${token}`} label="the line to export it" />
        </Stack>
      </Dialog>
    </form>
  );
}
