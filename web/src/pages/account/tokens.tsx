import { Badge, Group, Table, Text } from '@mantine/core';
import { change, useChange, useGet } from '../../api/queries';
import { dateTime } from '../../format';
import { ConfirmButton } from '../../parts/confirm-button';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { When } from '../../parts/when';
import type { Schemas } from '../../api/client';
import { NewToken } from './new-token';

type Token = Schemas['Token'];

function Row({ token, machine }: { token: Token; machine: string | undefined }) {
  const revoke = useChange(() => change('delete', '/v1/tokens/{id}', { path: { id: token.id } }), {
    said: `Token ${token.id} is revoked.`,
  });
  return (
    <Table.Tr>
      <Table.Td>{token.id}</Table.Td>
      <Table.Td>{token.label || '–'}</Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" color={token.scope === 'machine' ? 'blue' : 'teal'}>
          {token.scope}
        </Badge>{' '}
        {machine ?? token.machine}
      </Table.Td>
      <Table.Td>
        <When at={token.created} />
      </Table.Td>
      <Table.Td>{token.expires ? dateTime(token.expires) : 'never'}</Table.Td>
      <Table.Td>
        <ConfirmButton
          size="compact-sm"
          label="Revoke"
          aria-label={`revoke token ${token.id} ${token.label}`}
          question={
            token.scope === 'machine'
              ? 'The agent that uses it stops at once. Its machine stays yours.'
              : 'Whatever uses it is logged out at once. It cannot be brought back.'
          }
          confirm="Revoke it"
          onConfirm={() => revoke.mutate()}
        />
      </Table.Td>
    </Table.Tr>
  );
}

// Sessions, programs and machines that can act for me.
export function Tokens({ onEverywhere }: { onEverywhere: () => void }) {
  const tokens = useGet('/v1/tokens', { query: { limit: 500 } });
  const machines = useGet('/v1/machines', { query: { limit: 500 } });
  const nameOf = (id: string | undefined) => machines.data?.items?.find((m) => m.id === id)?.name;
  return (
    <Panel title="Tokens">
      <Text size="sm" c="dimmed" mb="md">
        Each login, program and machine acts for you with a token of its own. Revoke what you do not know.
      </Text>
      <NewToken />
      <Loaded query={tokens} height={200}>
        {({ items = [] }) =>
          items.length === 0 ? (
            <Empty title="No tokens" />
          ) : (
            <Table.ScrollContainer minWidth={680} mt="md">
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Token</Table.Th>
                    <Table.Th>Label</Table.Th>
                    <Table.Th>Acts for</Table.Th>
                    <Table.Th>Made</Table.Th>
                    <Table.Th>Expires</Table.Th>
                    <Table.Th>Revoke</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {items.map((t) => (
                    <Row key={t.id} token={t} machine={nameOf(t.machine)} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Loaded>
      <Group mt="md">
        <ConfirmButton
          label="Log out everywhere"
          question="All your tokens end: this browser, your programs, and your machines too, which stop lending. Go on?"
          confirm="Log out everywhere"
          onConfirm={onEverywhere}
        />
      </Group>
    </Panel>
  );
}

