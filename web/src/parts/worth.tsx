import { Alert, NumberInput, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useGet } from '../api/queries';
import { askOf, basisText, type Size, weekText } from './worth-words';

const kUsual: Size = { cores: 4, memory: 8, gpus: 0, vram: 0 };
const kShown = 3;

function Numbers({ size, set }: { size: Size; set: (more: Partial<Size>) => void }) {
  const field = (key: keyof Size, label: string, max: number) => (
    <NumberInput
      label={label}
      min={0}
      max={max}
      value={size[key]}
      onChange={(v) => set({ [key]: typeof v === 'number' ? Math.min(max, Math.max(0, v)) : 0 })}
    />
  );
  return (
    <SimpleGrid type="container" cols={{ base: 2, '500px': 4 }} spacing="xs">
      {field('cores', 'Cores', 4096)}
      {field('memory', 'Memory, GiB', 65_536)}
      {field('gpus', 'GPUs', 1024)}
      {field('vram', 'GPU memory, GiB', 65_536)}
    </SimpleGrid>
  );
}

// What a machine would earn in a week, before anybody lends it. Needs no account.
export function Worth() {
  const [size, setSize] = useState(kUsual);
  const [asked] = useDebouncedValue(size, 300);
  const earnings = useGet('/v1/earnings', { query: askOf(asked) });
  const items = earnings.data?.items ?? [];
  const best = items[0];
  return (
    <Stack gap="xs" component="section" aria-label="what it would earn">
      <Text size="sm" fw={600}>
        What would it earn?
      </Text>
      <Numbers size={size} set={(more) => setSize((now) => ({ ...now, ...more }))} />
      {earnings.error && <Alert color="yellow">{earnings.error.message}</Alert>}
      {earnings.data && !best && (
        <Text size="sm" c="dimmed">
          No slot class is that small: one core and one GiB are the least.
        </Text>
      )}
      {items.length > 0 && (
        <Table aria-label="expected earnings" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Offered as</Table.Th>
              <Table.Th>Expected, in credits</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, kShown).map((e) => (
              <Table.Tr key={e.class}>
                <Table.Td>{`${e.slots} × ${e.class}`}</Table.Td>
                <Table.Td>{weekText(e)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {best?.week && (
        <Text size="xs" c="dimmed">
          {basisText(best)}
        </Text>
      )}
    </Stack>
  );
}
