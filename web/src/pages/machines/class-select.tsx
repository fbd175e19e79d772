import { Select, Text } from '@mantine/core';
import { useGet } from '../../api/queries';
import { count, credits } from '../../format';
import type { Machine } from './leases';
import { type Offer, sizeOf, type SlotClass, slotsThatFit, unused } from './offers';

// The classes of which at least one slot fits, with what all of them would earn; and what of the
// machine the chosen one leaves unused.
export function ClassSelect({
  machine, offers, classes, value, onChange,
}: {
  machine: Machine;
  offers: Offer[];
  classes: SlotClass[];
  value: string;
  onChange: (name: string) => void;
}) {
  const { cores, memory_mib, gpus, gpu_memory_mib } = machine.spec;
  const earnings = useGet('/v1/earnings', { query: { cores, memory_mib, gpus, gpu_memory_mib } });
  const fit = classes
    .map((c) => ({ c, slots: c.retired ? 0 : slotsThatFit(c, machine.spec, offers, classes) }))
    .filter(({ slots }) => slots > 0);
  const label = ({ c, slots }: (typeof fit)[number]) => {
    const e = earnings.data?.items?.find((i) => i.class === c.name);
    const week = e?.week ? `, about ${credits((e.week.expected * slots) / e.slots)} a week` : '';
    return `${c.name}: ${sizeOf(c)}; ${count(slots, 'slot')}${week}`;
  };
  const chosen = fit.find(({ c }) => c.name === value);
  const idle = chosen && unused(chosen.c, chosen.slots, machine.spec, offers, classes);
  return (
    <>
      <Select
        label="Slot class"
        mb={4}
        w={{ base: '100%', xs: 400 }}
        allowDeselect={false}
        value={value}
        onChange={(name) => name && onChange(name)}
        data={fit.map((f) => ({ value: f.c.name, label: label(f) }))}
      />
      <Text size="xs" c="dimmed" mb="md" mih={18}>
        {idle}
      </Text>
    </>
  );
}
