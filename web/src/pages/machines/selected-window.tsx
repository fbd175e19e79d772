import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { add, clock, days, describe, kDay, kWeek, minutesOf, type Span } from './weekly';

function Moment({ label, minute, onChange }: { label: string; minute: number; onChange: (minute: number) => void }) {
  const day = Math.floor(minute / kDay) % 7;
  return (
    <Group gap={4} align="flex-end" wrap="nowrap">
      <NativeSelect
        label={`${label} day`}
        size="xs"
        value={day}
        data={days.map((d, i) => ({ value: String(i), label: d }))}
        onChange={(e) => onChange(Number(e.currentTarget.value) * kDay + (minute % kDay))}
      />
      <TextInput
        label={`${label} time`}
        size="xs"
        type="time"
        value={clock(minute % kDay)}
        onChange={(e) => {
          const time = minutesOf(e.currentTarget.value);
          if (!Number.isNaN(time)) onChange(day * kDay + time);
        }}
      />
    </Group>
  );
}

// The window that is selected on the calendar: its times to the minute, and its end.
export function SelectedWindow({
  span, spans, onChange, onMove,
}: {
  span: Span | undefined;
  spans: Span[];
  onChange: (spans: Span[]) => void;
  onMove: (spans: Span[], at: number) => void;
}) {
  const rest = spans.filter((s) => s !== span);
  const move = (from: number, to: number) => {
    const length = (to - from + 2 * kWeek) % kWeek || kWeek;
    const at = from % kWeek;
    onMove(add(rest, [{ from: at, to: at + length }]), at);
  };
  return (
    <Group mih={58} gap="sm" align="flex-end">
      {span ? (
        <>
          <Moment label="Start" minute={span.from} onChange={(from) => move(from, span.to)} />
          <Moment label="End" minute={span.to} onChange={(to) => move(span.from, to)} />
          <Button
            size="xs"
            variant="default"
            leftSection={<IconTrash size={14} />}
            onClick={() => onChange(rest)}
            aria-label={`delete the window ${describe(span)}`}
          >
            Delete this window
          </Button>
        </>
      ) : (
        <Text size="sm" c="dimmed">
          No window is selected. With keys: arrows move, Shift marks, Enter draws, Delete removes.
        </Text>
      )}
    </Group>
  );
}
