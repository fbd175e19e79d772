import { Button, Group, NumberInput, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { Schemas } from '../../api/client';
import { useGet } from '../../api/queries';
import { credits, percent } from '../../format';
import { Chart } from '../../parts/chart';
import { Fact } from '../../parts/fact';
import { Loaded, together } from '../../parts/page';
import { slotWindow } from '../../parts/time-axis';
import { type ClassEarnings, machineOf, noWeekText } from '../../parts/worth-words';
import { estimate, type Estimate, type Power, type Prices } from './earnings';
import { type Draft, hoursPerWeek, type Spec } from './offers';

type Edit = { draft: Draft; change: (more: Partial<Draft>) => void };

// The last seven days of a class, with the price that is being chosen across them.
function History({ prices, draft }: { prices: Prices; draft: Draft }) {
  const buckets = prices.buckets ?? [];
  if (prices.summary.volume === 0)
    return (
      <Text size="sm" c="dimmed" py="xl" ta="center">
        Nothing of this class was traded in the last seven days.
      </Text>
    );
  const own = draft.market || draft.price === '' ? null : draft.price;
  return (
    <Chart
      label={`prices paid for ${prices.class}, last seven days`}
      height={190}
      time
      from0
      x={buckets.map((b) => Date.parse(b.from) / 1000)}
      format={(y) => credits(y)}
      series={[
        { label: 'average paid', values: buckets.map((b) => b.prices.average ?? null) },
        { label: 'low', values: buckets.map((b) => b.prices.low ?? null), hidden: true },
        { label: 'high', values: buckets.map((b) => b.prices.high ?? null), hidden: true },
        ...(own === null ? [] : [{ label: 'your price', values: buckets.map(() => own), dash: true }]),
      ]}
      bands={[[2, 1, 'lowest to highest']]}
      window={slotWindow(Date.now() / 1000, 7 * 86_400, 3_600)}
    />
  );
}

function assumptions(e: Estimate, hours: number, draft: Draft): string {
  const open = `${hours.toLocaleString('en', { maximumFractionDigits: 1 })} hours open`;
  if (e.use === undefined) return `${open}, ${credits(e.price)} a slot-hour; ${noWeekText(e.full)}.`;
  const use = `${percent(e.use)} of them leased, as the market expects`;
  const taken = draft.market || e.willing >= 0.995 ? '' : `; ${percent(e.willing)} of the trades paid your price or more`;
  const full = (e.gross ?? 0) < e.full ? ` If it were leased all the time: ${credits(e.full)}.` : '';
  return `${open}, ${use}, ${credits(e.price)} a slot-hour${taken}.${full}`;
}

type EarningsProps = { prices: Prices; worth: ClassEarnings | undefined; draft: Draft; fee: number };

function Earnings({ prices, worth, draft, fee }: EarningsProps) {
  const [power, setPower] = useLocalStorage<Power>({ key: 'souk.power', defaultValue: { watts: 0, perKwh: 0 } });
  const hours = hoursPerWeek(draft);
  const price = draft.market || draft.price === '' ? undefined : draft.price;
  const got = estimate(prices, worth, { price, slots: draft.slots, hours, fee }, power);
  const number = (value: string | number) => (typeof value === 'number' ? value : 0);
  return (
    <Stack gap="xs">
      <Group gap="xl" align="flex-start">
        <Fact label="Estimated a week, on these terms" about={fee > 0 ? `after the fee of ${percent(fee, 1)}` : undefined}>
          {got.gross === undefined ? '–' : credits(got.gross)}
        </Fact>
        <Fact label="After electricity" about={got.power > 0 ? `power ${credits(got.power)}` : 'fill in its power below'}>
          {got.net === undefined ? '–' : credits(got.net)}
        </Fact>
      </Group>
      <Text size="xs" c="dimmed" mih={36}>
        {assumptions(got, hours, draft)}
      </Text>
      <SimpleGrid cols={2} spacing="xs">
        <NumberInput
          label="Power, watts"
          min={0}
          max={100_000}
          value={power.watts}
          onChange={(v) => setPower({ ...power, watts: number(v) })}
        />
        <NumberInput
          label="Credits per kWh"
          min={0}
          decimalScale={4}
          step={0.05}
          value={power.perKwh}
          onChange={(v) => setPower({ ...power, perKwh: number(v) })}
        />
      </SimpleGrid>
    </Stack>
  );
}

function Choice({ draft, change, suggested }: Edit & { suggested: number }) {
  return (
    <Stack gap="xs">
      <SegmentedControl
        aria-label="market price or your own"
        w="fit-content"
        value={draft.market ? 'market' : 'own'}
        onChange={(value) =>
          change({ market: value === 'market', price: draft.price === '' ? suggested : draft.price })
        }
        data={[
          { value: 'market', label: 'Market price' },
          { value: 'own', label: 'A price of your own' },
        ]}
      />
      <Group gap="xs" align="flex-end">
        <NumberInput
          label="Price"
          description="The lowest price you accept, per slot-hour."
          min={0}
          decimalScale={6}
          step={0.05}
          disabled={draft.market}
          value={draft.market ? '' : draft.price}
          placeholder={draft.market ? 'the market price' : ''}
          onChange={(v) => change({ price: typeof v === 'number' ? v : '' })}
          w={230}
        />
        <Button variant="light" onClick={() => change({ market: false, price: suggested })}>
          Use the suggested price {credits(suggested)}
        </Button>
      </Group>
    </Stack>
  );
}

// What to ask for, beside what others paid, and what it would come to.
export function PriceEditor({ of, spec, draft, change }: Edit & { of: string; spec: Spec }) {
  const worth = useGet('/v1/earnings', { query: machineOf(spec) });
  const prices = useGet('/v1/prices', { query: { class: of, days: 7 } });
  const settings = useGet('/v1/settings', {});
  return (
    <Loaded query={together<[Prices, Schemas['Earnings']]>(prices, worth)} height={300}>
      {([data, { items = [] }]) => (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Stack>
            <Choice draft={draft} change={change} suggested={data.suggested} />
            <Earnings prices={data} worth={items.find((i) => i.class === of)} draft={draft} fee={settings.data?.fee ?? 0} />
          </Stack>
          <div style={{ minWidth: 0, minHeight: 224 }}>
            <History prices={data} draft={draft} />
          </div>
        </SimpleGrid>
      )}
    </Loaded>
  );
}
