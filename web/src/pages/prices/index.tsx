import { SimpleGrid, Stack, Tabs, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { Schemas } from '../../api/client';
import { useGet } from '../../api/queries';
import { bytes, count, credits } from '../../format';
import { Empty } from '../../parts/empty';
import { Fact } from '../../parts/fact';
import { truthful } from '../../parts/mechanism-words';
import { Loaded, Page, together } from '../../parts/page';
import { AdvicePanel } from './advice-panel';
import { AheadPanel } from './ahead-panel';
import { BookPanel } from './book-panel';
import { HistoryPanel } from './history-panel';
import { RulePanel } from './rule-panel';

type SlotClass = Schemas['SlotClass'];

function contents(c: SlotClass): string {
  const mib = (n: number) => bytes(n * 1024 ** 2);
  const parts = [count(c.cores, 'core'), mib(c.memory_mib)];
  if (c.gpus > 0) parts.unshift(count(c.gpus, 'GPU') + (c.gpu_memory_mib ? ` of ${mib(c.gpu_memory_mib)}` : ''));
  return parts.join(', ');
}

function ClassPrices({ slotClass: c }: { slotClass: SlotClass }) {
  const prices = useGet('/v1/prices', { query: { class: c.name } });
  const asked = useGet('/v1/book', { query: { class: c.name } });
  const book = useMemo(() => ({ asks: asked.data?.asks ?? [], bids: asked.data?.bids ?? [] }), [asked.data]);
  const mechanisms = useGet('/v1/mechanisms', {});
  return (
    <Loaded query={together(prices, asked, mechanisms)} height={1400}>
      {([p, , { items }]) => {
        const rule = items?.find((m) => m.name === c.in_force);
        return (
          <Stack gap="lg" pt="md">
            <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }}>
              <Fact label="A slot is">{contents(c)}</Fact>
              <Fact label="Suggested now">{credits(p.suggested)}</Fact>
              <Fact label="Last paid">{p.last === undefined ? '–' : credits(p.last)}</Fact>
              <Fact label="Median, 7 days">{p.summary.median === undefined ? '–' : credits(p.summary.median)}</Fact>
              <Fact label="In use">{count(c.leased, 'slot')}</Fact>
              <Fact label="Wanted">{count(c.wanted, 'slot')}</Fact>
            </SimpleGrid>
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
              <BookPanel book={book} />
              <AdvicePanel prices={p} book={book} truthful={rule ? truthful(rule.properties) : false} />
            </SimpleGrid>
            <HistoryPanel name={c.name} />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
              <AheadPanel prices={p} />
              <RulePanel slotClass={c} mechanism={rule} />
            </SimpleGrid>
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Classes({ classes }: { classes: SlotClass[] }) {
  const [search, setSearch] = useSearchParams();
  const chosen = classes.find((c) => c.name === search.get('class')) ?? classes[0];
  if (!chosen)
    return <Empty title="This market has no slot classes">An operator adds them on the operator’s page.</Empty>;
  return (
    <Tabs value={chosen.name} onChange={(name) => setSearch(name ? { class: name } : {}, { replace: true })}>
      <Tabs.List aria-label="slot classes">
        {classes.map((c) => (
          <Tabs.Tab key={c.name} value={c.name}>
            {c.name}{' '}
            <Text span size="xs" c="dimmed" className="numbers">
              {credits(c.suggested)}
            </Text>
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={chosen.name}>
        <ClassPrices key={chosen.name} slotClass={chosen} />
      </Tabs.Panel>
    </Tabs>
  );
}

export default function Prices() {
  const classes = useGet('/v1/classes', {});
  return (
    <Page title="Prices" about="What slots cost now, what they cost before, and what to expect. Credits per slot-hour.">
      <Loaded query={classes} height={700}>
        {(page) => <Classes classes={(page.items ?? []).filter((c) => !c.retired || c.leased > 0)} />}
      </Loaded>
    </Page>
  );
}
