import { Group, Slider, Text } from '@mantine/core';
import { count } from '../../format';
import { sizeOf, type SlotClass, type Spec } from './offers';

// The part of the machine that is lent, in slots of one class.
export function SlotsSlider({
  of, spec, most, slots, onChange,
}: {
  of: SlotClass;
  spec: Spec;
  most: number;
  slots: number;
  onChange: (slots: number) => void;
}) {
  const step = Math.max(1, Math.ceil(most / 8));
  const marks = [1, ...Array.from({ length: 8 }, (_, i) => (i + 1) * step), most]
    .filter((n, i, all) => n <= most && all.indexOf(n) === i && (n === most || most - n >= step / 2))
    .map((value) => ({ value, label: String(value) }));
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {count(slots, 'slot')} of {of.name}
        </Text>
        <Text size="sm" c="dimmed">
          {sizeOf(of, slots)} of {sizeOf(spec)}
        </Text>
      </Group>
      <Slider
        mt="xs"
        mb="lg"
        min={1}
        max={Math.max(1, most, slots)}
        value={slots}
        onChange={onChange}
        marks={marks}
        disabled={most <= 1 && slots <= 1}
        thumbLabel="Slots to lend"
      />
    </div>
  );
}
