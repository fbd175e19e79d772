import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { count, credits } from '../../format';
import { Panel } from '../../parts/panel';
import { borrowing, lending } from './advice';
import type { Book } from './book';
import { extremes, slotTime, timeSlots } from './history';

// What prices and book mean for who wants to lend or borrow some slots.
export function AdvicePanel({ prices, book, truthful }: { prices: Schemas['Prices']; book: Book; truthful: boolean }) {
  const [slots, setSlots] = useState(1);
  const low = extremes(timeSlots(prices.ahead ?? []).filter((s) => s.from > Date.now()))?.low;
  const later = low && low.price < prices.suggested ? low : undefined;
  return (
    <Panel title="What this means for you">
      <Stack gap="md">
        <NumberInput
          label="Slots"
          description="How many you would lend or borrow."
          min={1}
          max={10_000}
          allowDecimal={false}
          value={slots}
          onChange={(n) => setSlots(Math.max(1, Number(n) || 1))}
          maw={220}
        />
        <section aria-label="to borrow">
          <Text fw={600}>To borrow {count(slots, 'slot')}</Text>
          <Text size="sm">{borrowing(book, slots, prices.suggested)}</Text>
          {later && (
            <Text size="sm">
              If it can wait: {slotTime(later)} is expected to cost {credits(later.price)}.
            </Text>
          )}
        </section>
        <section aria-label="to lend">
          <Text fw={600}>To lend {count(slots, 'slot')}</Text>
          <Text size="sm">{lending(book, slots, prices.suggested)}</Text>
        </section>
        <Text size="xs" c="dimmed">
          {truthful
            ? 'With this mechanism, give your true value of a slot. Any other price gains nothing.'
            : 'You pay the price of the round, not your limit, and get the price of the round, not your reserve.'}
        </Text>
        <Group gap="xs">
          <Button component={Link} href="/jobs/new" size="xs">
            Run a job
          </Button>
          <Button component={Link} href="/machines" size="xs" variant="default">
            Lend a machine
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}
