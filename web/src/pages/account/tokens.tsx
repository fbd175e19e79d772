import { Badge, Group, Table, Text } from '@mantine/core';
import { change, useChange, useGet } from '../../api/queries';
import { credits, dateTime } from '../../format';
import { ConfirmButton } from '../../parts/confirm-button';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { When } from '../../parts/when';
import { WideTable } from '../../parts/wide-table';
import type { Schemas } from '../../api/client';
import { NewToken } from './new-token';

type Token = Schemas['Token'];

const kColors: Record<Token['scope'], string> = { user: 'teal', operator: 'teal', machine: 'blue', spend: 'grape' };

const kOnRevoke: Record<Token['scope'], string> = {
  user: 'Whatever uses it is logged out at once. It cannot be brought back.',
  operator: 'Whatever uses it is logged out at once. It cannot be brought back.',
  machine: 'The agent that uses it stops at once. Its machine stays yours.',
  spend: 'Whatever uses it can run no more jobs. Jobs that run go on.',
};

// "1.20 spent and 3.00 reserved of 5.00"
export function useOf(token: Token): string {
  if (token.limit === undefined) return '–';
  const reserved = token.reserved ? ` and ${credits(token.reserved)} reserved` : '';
  return `${credits(token.spent ?? 0)} spent${reserved} of ${credits(token.limit)}`;
}

function Row({ token, machine }: { token: Token; machine: string | undefined }) {
  const revoke = useChange(() => change('delete', '/v1/tokens/{id}', { path: { id: token.id } }), {
    said: `Token ${token.id} is revoked.`,
  });
  return (
    <Table.Tr>
      <Table.Td>{token.id}</Table.Td>
      <Table.Td>{token.label || '–'}</Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" color={kColors[token.scope]}>
          {token.scope}
        </Badge>{' '}
        {machine ?? token.machine}
      </Table.Td>
      <Table.Td>{useOf(token)}</Table.Td>
      <Table.Td>
        <When at={token.created} />
      </Table.Td>
      <Table.Td>{token.expires ? dateTime(token.expires) : 'never'}</Table.Td>
      <Table.Td>
        <ConfirmButton
          size="compact-sm"
          label="Revoke"
          aria-label={`revoke token ${token.id} ${token.label}`}
          question={kOnRevoke[token.scope]}
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
        Each login, program and machine acts for you with a token of its own. Revoke any token you do not recognise.
      </Text>
      <NewToken />
      <Loaded query={tokens} height={200}>
        {({ items = [] }) =>
          items.length === 0 ? (
            <Empty title="No tokens" />
          ) : (
            <WideTable minWidth={780} mt="md">
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Token</Table.Th>
                    <Table.Th>Label</Table.Th>
                    <Table.Th>Acts for</Table.Th>
                    <Table.Th>Credits</Table.Th>
                    <Table.Th>Made</Table.Th>
                    <Table.Th>Ends</Table.Th>
                    <Table.Th>Revoke</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {items.map((t) => (
                    <Row key={t.id} token={t} machine={nameOf(t.machine)} />
                  ))}
                </Table.Tbody>
              </Table>
            </WideTable>
          )
        }
      </Loaded>
      <Group mt="md">
        <ConfirmButton
          label="Log out everywhere"
          question="This ends all your tokens: this browser, your programs and your machines, which stop lending. Continue?"
          confirm="Log out everywhere"
          onConfirm={onEverywhere}
        />
      </Group>
    </Panel>
  );
}

