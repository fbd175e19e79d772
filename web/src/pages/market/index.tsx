import { Anchor, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { type ApiError, get, type Schemas } from '../../api/client';
import { Empty } from '../../parts/empty';
import { Loaded, Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { conditionsOf, type Filter, filterOf, kOrders, type Order, sorted, whereOf, without } from './filter';
import { FilterForm } from './filter-form';
import { OffersView } from './offers-view';
import { WhyThese } from './why-these';

const kMost = 500;

// While the next answer comes, the last one stays, so that nothing jumps.
function useOffers(where: string) {
  const ask = { query: { where, limit: kMost } };
  return useQuery<Schemas['OfferPage'], ApiError>({
    queryKey: ['/v1/offers', ask],
    queryFn: ({ signal }) => get('/v1/offers', ask, signal),
    placeholderData: keepPreviousData,
  });
}

function Nothing({ page }: { page: Schemas['OfferPage'] }) {
  return page.looked_at === 0 ? (
    <Empty title="Nothing is on offer yet">
      Nobody lends here so far. <Anchor component={Link} href="/machines?lend=1">Lend the first machine</Anchor>, and
      it shows here. A job that you submit now waits for one.
    </Empty>
  ) : (
    <Empty title="No offer matches">The lines above say why. Drop a part of the filter.</Empty>
  );
}

// Every machine on offer, what it has, what it is worth and what it costs.
export default function MarketPage() {
  const [search, setSearch] = useSearchParams();
  const filter = filterOf(search);
  const order = (search.get('order') ?? 'price') as Order;
  const by: Order = order in kOrders ? order : 'price';
  const write = (next: Filter, sort: Order) => {
    const kept = Object.entries(next).filter(([, value]) => value !== '');
    setSearch([...kept, ...(sort === 'price' ? [] : [['order', sort]])] as [string, string][], { replace: true });
  };
  const [settled] = useDebouncedValue(whereOf(filter), 250);
  const offers = useOffers(settled);
  return (
    <Page
      title="Market"
      about="Every machine on offer. Speed is that of one slot, measured by the market: a core of ten years ago has 1. A machine without leases is new."
    >
      <Panel title="What do you need?">
        <FilterForm
          filter={filter}
          order={by}
          change={(more) => write({ ...filter, ...more }, by)}
          sort={(next) => write(filter, next)}
        />
      </Panel>
      <Panel title="On offer">
        <Loaded query={offers} height={320}>
          {(page) => (
            <>
              <WhyThese page={page} conditions={conditionsOf(filter)} drop={(key) => write(without(filter, key), by)} />
              {(page.items ?? []).length === 0 ? <Nothing page={page} /> : <OffersView offers={sorted(page.items ?? [], by)} />}
              <Text size="xs" c="dimmed" mt="sm">
                Prices are credits per slot-hour; (market) is the price suggested for the class now.
              </Text>
            </>
          )}
        </Loaded>
      </Panel>
    </Page>
  );
}
