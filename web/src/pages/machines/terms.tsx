import { Stack, Title } from '@mantine/core';
import type { Machine } from './leases';
import type { Draft, SlotClass } from './offers';
import { PriceEditor } from './price';
import { SlotsSlider } from './slots';
import { WindowsEditor } from './windows';

// Slots, price and windows: the same to edit an offer and to make one.
export function Terms({
  of, most, machine, draft, change,
}: {
  of: SlotClass;
  most: number;
  machine: Machine;
  draft: Draft;
  change: (more: Partial<Draft>) => void;
}) {
  return (
    <Stack gap="xl">
      <div>
        <Title order={3} size="h5" mb={4}>
          Slots
        </Title>
        <SlotsSlider of={of} spec={machine.spec} most={most} slots={draft.slots} onChange={(slots) => change({ slots })} />
      </div>
      <div>
        <Title order={3} size="h5" mb={4}>
          Price
        </Title>
        <PriceEditor of={of.name} spec={machine.spec} draft={draft} change={change} />
      </div>
      <div>
        <Title order={3} size="h5" mb={4}>
          Hours
        </Title>
        <WindowsEditor draft={draft} change={change} />
      </div>
    </Stack>
  );
}
