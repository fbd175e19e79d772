import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange, useGet, usePages } from '../../api/queries';
import { count, credits } from '../../format';
import { ConfirmButton } from '../../parts/confirm-button';
import { Empty } from '../../parts/empty';
import { More } from '../../parts/more';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { Search } from '../../parts/search';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { WideTable } from '../../parts/wide-table';
import { FreezeForm, GrantForm } from './account-forms';
import { found } from './accounts-list';

type Account = Schemas['Account'];
type Act = { what: 'grant' | 'freeze'; name: string };

function Row({ account: a, act }: { account: Account; act: (act: Act) => void }) {
  const thaw = useChange(() => change('post', '/v1/accounts/{name}/thaw', { path: { name: a.name } }), {
    said: `${a.name} is no longer frozen.`,
  });
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {a.name}
          </Text>
          {a.operator && (
            <Badge variant="light" tt="none">
              operator
            </Badge>
          )}
          {a.frozen !== undefined && <StateBadge state="frozen" />}
        </Group>
        {a.frozen && (
          <Text size="xs" c="dimmed">
            {a.frozen}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{credits(a.available)}</Table.Td>
      <Table.Td ta="right">{credits(a.bonus)}</Table.Td>
      <Table.Td ta="right">{credits(a.escrow)}</Table.Td>
      <Table.Td>
        <When at={a.created} />
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap" justify="flex-end">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Grant credits to ${a.name}`}
            onClick={() => act({ what: 'grant', name: a.name })}
          >
            Grant
          </Button>
          {a.frozen === undefined ? (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Freeze ${a.name}`}
              onClick={() => act({ what: 'freeze', name: a.name })}
            >
              Freeze
            </Button>
          ) : (
            <ConfirmButton
              size="compact-sm"
              label="Unfreeze"
              question={`Unfreeze ${a.name}? Its jobs and offers trade again.`}
              confirm={`Unfreeze ${a.name}`}
              onConfirm={() => thaw.mutate()}
            />
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

// Accounts, what they have, and what an operator can do for or against them.
export function Accounts() {
  const [text, setText] = useState('');
  const [act, setAct] = useState<Act>();
  const [asked] = useDebouncedValue(text.trim(), 300);
  // Sign-ups are no news that an operator hears of.
  const pages = usePages('/v1/accounts', { query: { limit: 200 } }, { every: 10_000 });
  // A name that is on a page not loaded yet.
  const exact = useGet('/v1/accounts/{name}', { path: { name: asked } }, { enabled: asked !== '' && pages.hasNextPage });
  return (
    <Panel
      title="Accounts"
      actions={
        <Button size="xs" variant="default" onClick={() => setAct({ what: 'grant', name: 'platform' })}>
          Grant to the platform
        </Button>
      }
    >
      <Stack gap="sm">
        <Search label="Search accounts" placeholder="Part of a name" value={text} onChange={setText} />
        <Loaded query={pages} height={320}>
          {({ items }) => {
            const rows = found(items, text, exact.data);
            return rows.length === 0 ? (
              <Empty title="No account has such a name" />
            ) : (
              <WideTable minWidth={720}>
                <Table verticalSpacing="xs" aria-label="accounts">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Name</Table.Th>
                      <Table.Th ta="right">Available</Table.Th>
                      <Table.Th ta="right">Bonus</Table.Th>
                      <Table.Th ta="right">In escrow</Table.Th>
                      <Table.Th>Created</Table.Th>
                      <Table.Th ta="right">Actions</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {rows.map((account) => (
                      <Row key={account.id} account={account} act={setAct} />
                    ))}
                  </Table.Tbody>
                </Table>
              </WideTable>
            );
          }}
        </Loaded>
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {pages.data && `${count(pages.data.items.length, 'account')}${pages.hasNextPage ? ' so far' : ''}.`} Bonus
            credits pay for jobs only; escrow is promised to jobs that run.
          </Text>
          <More pages={pages} label="Show more" />
        </Group>
      </Stack>
      {act?.what === 'grant' && <GrantForm name={act.name} close={() => setAct(undefined)} />}
      {act?.what === 'freeze' && <FreezeForm name={act.name} close={() => setAct(undefined)} />}
    </Panel>
  );
}
