import { Button, Code, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMemo } from 'react';
import { timeZone } from '../../format';
import { Calendar } from './calendar';
import { useDrawing } from './drawing';
import { type Draft, hoursPerWeek } from './offers';
import { SelectedWindow } from './selected-window';
import { describe, kDay, normal, type Span, timeZones, writeWindows } from './weekly';

const kPresets: { label: string; spans: Span[] }[] = [
  { label: 'Every night', spans: [0, 1, 2, 3, 4, 5, 6].map((d) => ({ from: d * kDay + 1320, to: d * kDay + 1860 })) },
  {
    label: 'Outside office hours',
    spans: [...[0, 1, 2, 3].map((d) => ({ from: d * kDay + 1080, to: d * kDay + 1920 })), { from: 4 * kDay + 1080, to: 7 * kDay + 480 }],
  },
  { label: 'Weekends', spans: [{ from: 5 * kDay, to: 7 * kDay }] },
];

const kNone: Span[] = [];

// What is being drawn, in words; or what to do next.
function hint({ stroke, marks }: ReturnType<typeof useDrawing>, always: boolean, byTouch: boolean): string {
  const first = marks[0];
  if (!stroke || !first) {
    if (always) return `Lent at all hours. ${byTouch ? 'Tap a first and a last half hour' : 'Draw a window'} to lend only then.`;
    return byTouch
      ? 'Tap the first half hour, then the last. Tap a window to change it.'
      : 'Drag over free hours to draw, over drawn ones to erase. Click a window to change it.';
  }
  if (stroke.by === 'taps') return `From ${describe(first).split(' to ')[0]}: now tap the last half hour.`;
  const more = marks.length > 1 ? `, ${marks.length} days` : '';
  const how = stroke.by === 'keys' ? ': Enter to do it' : '';
  return `${stroke.erases ? 'Erase' : 'Draw'} ${describe(first)}${more}${how}`;
}

function Others({ others, onRemove }: { others: string[]; onRemove: (text: string) => void }) {
  if (others.length === 0) return null;
  return (
    <div>
      <Text size="sm">Windows in other time zones, kept as they are:</Text>
      {others.map((text) => (
        <Group key={text} gap="xs">
          <Code>{text}</Code>
          <Button size="compact-xs" variant="subtle" color="red" onClick={() => onRemove(text)} aria-label={`remove ${text}`}>
            Remove
          </Button>
        </Group>
      ))}
    </div>
  );
}

function Weekly({ draft, change }: { draft: Draft; change: (more: Partial<Draft>) => void }) {
  const { windows, always } = draft;
  const { zone } = windows;
  const spans = always ? kNone : windows.spans;
  const others = always ? [] : windows.others;
  // Whoever draws a window means it.
  const set = (more: Partial<typeof windows>) => change({ always: false, windows: { ...windows, ...more } });
  const drawing = useDrawing(spans, (next) => set({ spans: next }));
  const zones = useMemo(() => timeZones(timeZone, zone), [zone]);
  const byTouch = useMediaQuery('(pointer: coarse)') ?? false;
  const selected = spans[drawing.selected];
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <Select
          label="Time zone"
          description="The hours follow the clock of this place, summer and winter."
          data={zones}
          value={zone}
          onChange={(value) => value && change({ windows: { ...windows, zone: value } })}
          searchable
          limit={50}
          nothingFoundMessage="No such time zone"
          allowDeselect={false}
          w={{ base: '100%', xs: 340 }}
        />
        <Group gap={6}>
          {kPresets.map((p) => (
            <Button key={p.label} size="xs" variant="default" onClick={() => set({ spans: normal(p.spans) })}>
              {p.label}
            </Button>
          ))}
          <Button size="xs" variant="default" disabled={spans.length === 0} onClick={() => set({ spans: [] })}>
            Clear
          </Button>
        </Group>
      </Group>
      <Text size="sm" role="status" mih={22}>
        {hint(drawing, always, byTouch)}
      </Text>
      <Calendar spans={spans} zone={zone} drawing={drawing} always={always} />
      <SelectedWindow
        span={selected}
        onChange={(next) => {
          set({ spans: next });
          drawing.select(-1);
        }}
        onMove={(next, at) => {
          set({ spans: next });
          drawing.select(at);
        }}
        spans={spans}
      />
      <Others others={others} onRemove={(text) => set({ others: others.filter((o) => o !== text) })} />
      <Text size="sm" c="dimmed" component="div">
        {hoursPerWeek(draft).toLocaleString('en', { maximumFractionDigits: 2 })} hours a week
        {!always &&
          writeWindows(windows).map((line) => (
            <div key={line}>
              <Code>{line}</Code>
            </div>
          ))}
      </Text>
    </Stack>
  );
}

// When a machine is lent: always, or in windows drawn on a week.
export function WindowsEditor({ draft, change }: { draft: Draft; change: (more: Partial<Draft>) => void }) {
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="when it is lent"
        w="fit-content"
        value={draft.always ? 'always' : 'weekly'}
        onChange={(value) => change({ always: value === 'always' })}
        data={[
          { value: 'always', label: 'Always' },
          { value: 'weekly', label: 'In weekly windows' },
        ]}
      />
      <Weekly draft={draft} change={change} />
    </Stack>
  );
}
