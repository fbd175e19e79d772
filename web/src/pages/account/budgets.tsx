import { Group, Progress, Stack, Text } from '@mantine/core';
import { useGet } from '../../api/queries';
import type { Schemas } from '../../api/client';
import { bytes } from '../../format';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';

type Use = Schemas['BudgetUse'];

const kNoLimit = 2 ** 60; // What the server says where there is none.

// "3 of 1,000 connections from one address".
export function usedOf(use: Use): string {
  const amount = (n: number) => (use.unit === 'bytes' ? bytes(n) : n.toLocaleString('en'));
  if (use.limit >= kNoLimit) return `${amount(use.used)} ${use.what}, no limit`;
  return `${amount(use.used)} of ${amount(use.limit)} ${use.what}`;
}

function Row({ use }: { use: Use }) {
  const share = use.limit > 0 ? (100 * use.used) / use.limit : 100;
  const words = usedOf(use);
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm">{use.name}</Text>
        <Text size="sm" c="dimmed">
          {words}
        </Text>
      </Group>
      <Progress value={share} color={share > 90 ? 'red' : 'teal'} aria-label={`${use.name}: ${words}`} />
    </div>
  );
}

// What I use of what all members share.
export function Budgets({ name }: { name: string }) {
  const budgets = useGet('/v1/accounts/{name}/budgets', { path: { name } });
  return (
    <Panel title="Budgets">
      <Text size="sm" c="dimmed" mb="md">
        How much of this server you use. All members share it; the operator can give you more.
      </Text>
      <Loaded query={budgets} height={120}>
        {({ items = [] }) => (
          <Stack gap="sm">
            {items.map((use) => (
              <Row key={use.name} use={use} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}
