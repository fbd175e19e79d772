import { Button, Group, Popover, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { change, useChange } from '../../api/queries';
import { ConfirmButton } from '../../parts/confirm-button';
import type { Machine } from './leases';
import type { Offer } from './offers';

function Rename({ machine }: { machine: Machine }) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState(machine.name);
  const rename = useChange(
    () => change('patch', '/v1/machines/{id}', { path: { id: machine.id }, body: { name } }),
    { said: 'Renamed.', done: () => setOpen(false) },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate();
  };
  return (
    <Popover opened={open} onChange={setOpen} trapFocus withArrow position="bottom-end">
      <Popover.Target>
        <Button
          variant="default"
          onClick={() => {
            setName(machine.name);
            setOpen(!open);
          }}
        >
          Rename
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={submit}>
          <Group align="flex-end" gap="xs" wrap="nowrap">
            <TextInput label="New name" required maxLength={40} value={name} onChange={(e) => setName(e.currentTarget.value)} />
            <Button type="submit" loading={rename.isPending}>
              Save
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

export function MachineActions({ machine, offers }: { machine: Machine; offers: Offer[] }) {
  const [, go] = useLocation();
  // The market keeps a machine while it has offers, and an offer while it has leases.
  const remove = useChange(
    async () => {
      for (const { id } of offers) await change('delete', '/v1/offers/{id}', { path: { id } });
      return change('delete', '/v1/machines/{id}', { path: { id: machine.id } });
    },
    { said: `${machine.name} is removed.`, done: () => go('/machines') },
  );
  return (
    <>
      <Rename machine={machine} />
      <ConfirmButton
        label="Remove the machine"
        question={`Remove ${machine.name}, its offers and its tokens? What it earned stays yours.`}
        confirm="Remove it"
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}
