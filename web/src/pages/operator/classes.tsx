import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { bytes, credits } from '../../format';
import { ConfirmButton } from '../../parts/confirm-button';
import { described } from '../../parts/mechanism-words';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { WideTable } from '../../parts/wide-table';
import { editOf } from './class';
import { ClassFormModal } from './class-form';

type SlotClass = Schemas['SlotClass'];

const kMiB = 1024 ** 2;

function Row({ slotClass: c, edit }: { slotClass: SlotClass; edit: () => void }) {
  const retire = useChange(
    () => change('put', '/v1/classes/{name}', { path: { name: c.name }, body: { ...editOf(c), retired: !c.retired } }),
    { said: c.retired ? `${c.name} is back.` : `${c.name} is retired.` },
  );
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <Text size="sm" fw={600} style={{ whiteSpace: 'nowrap' }}>
            {c.name}
          </Text>
          {c.retired && (
            <Badge variant="light" color="gray" tt="none" style={{ flexShrink: 0 }}>
              retired
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td ta="right">{c.cores}</Table.Td>
      <Table.Td ta="right">{bytes(c.memory_mib * kMiB)}</Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {c.gpus === 0 ? '–' : `${c.gpus}${c.gpu_memory_mib ? `, ${bytes(c.gpu_memory_mib * kMiB)}` : ''}`}
      </Table.Td>
      <Table.Td ta="right">{credits(c.price)}</Table.Td>
      <Table.Td ta="right">{credits(c.suggested)}</Table.Td>
      <Table.Td ta="right">
        {c.leased} / {c.wanted}
      </Table.Td>
      <Table.Td>
        <Link href={`/operator?tab=mechanisms&class=${encodeURIComponent(c.name)}`}>
          {described(c.mechanism, c.params)}
          {c.trial && ` and ${described(c.trial.mechanism, c.trial.params)} in turn`}
        </Link>
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap" justify="flex-end">
          <Button size="compact-sm" variant="default" onClick={edit} aria-label={`Edit ${c.name}`}>
            Edit
          </Button>
          <ConfirmButton
            size="compact-sm"
            label={c.retired ? 'Bring back' : 'Retire'}
            question={
              c.retired
                ? `Let new offers and jobs use ${c.name} again?`
                : `Retire ${c.name}? It takes no new offers and jobs; leases that run go on.`
            }
            confirm={c.retired ? `Bring ${c.name} back` : `Retire ${c.name}`}
            onConfirm={() => retire.mutate()}
          />
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

// The commodities of this market.
export function Classes() {
  const classes = useGet('/v1/classes', {});
  const [form, setForm] = useState<{ old?: SlotClass }>();
  return (
    <Panel
      title="Slot classes"
      actions={
        <Button size="xs" leftSection={<IconPlus size={14} />} onClick={() => setForm({})}>
          Add a class
        </Button>
      }
    >
      <Loaded query={classes} height={260}>
        {({ items }) => (
          <WideTable minWidth={920}>
            <Table verticalSpacing="xs" aria-label="slot classes">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Class</Table.Th>
                  <Table.Th ta="right">Cores</Table.Th>
                  <Table.Th ta="right">Memory</Table.Th>
                  <Table.Th ta="right">GPUs</Table.Th>
                  <Table.Th ta="right">First price</Table.Th>
                  <Table.Th ta="right">Suggested</Table.Th>
                  <Table.Th ta="right">In use / wanted</Table.Th>
                  <Table.Th>Mechanism</Table.Th>
                  <Table.Th ta="right">Actions</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {(items ?? []).map((c) => (
                  <Row key={c.name} slotClass={c} edit={() => setForm({ old: c })} />
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
        )}
      </Loaded>
      {form && <ClassFormModal {...form} close={() => setForm(undefined)} />}
    </Panel>
  );
}
