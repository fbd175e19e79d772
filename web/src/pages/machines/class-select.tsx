import { Select } from '@mantine/core';
import type { Machine } from './leases';
import { type Offer, sizeOf, type SlotClass, slotsThatFit } from './offers';

// The classes of which at least one slot fits.
export function ClassSelect({
  machine, offers, classes, value, onChange,
}: {
  machine: Machine;
  offers: Offer[];
  classes: SlotClass[];
  value: string;
  onChange: (name: string) => void;
}) {
  const fit = classes.filter((c) => !c.retired && slotsThatFit(c, machine.spec, offers, classes) > 0);
  return (
    <Select
      label="Slot class"
      mb="md"
      w={{ base: '100%', xs: 300 }}
      allowDeselect={false}
      value={value}
      onChange={(name) => name && onChange(name)}
      data={fit.map((c) => ({ value: c.name, label: `${c.name}: ${sizeOf(c)}` }))}
    />
  );
}
