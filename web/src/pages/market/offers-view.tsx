import { Badge, Button, Group, Paper, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link } from 'wouter';
import { count, credits } from '../../format';
import { busyText } from '../../parts/busy';
import { Fact } from '../../parts/fact';
import { reliabilityText } from '../../parts/reliability';
import { StateBadge } from '../../parts/state-badge';
import { environmentText, gib, gpuText, type Offer, rentLink, windowText } from './filter';

const speedText = (o: Offer) => (o.speed === undefined ? 'not measured' : o.speed.toFixed(2));
const priceText = (o: Offer) => `${credits(o.asks)}${o.price === undefined ? ' (market)' : ''}`;

// Why it is not to be had.
function Load({ offer }: { offer: Offer }) {
  return (
    offer.busy && (
      <Text size="xs" c="dimmed">
        {`Not yet proved: ${busyText(offer.busy)}.`}
      </Text>
    )
  );
}

// The job asks for the class and the lender, so any of their machines may do it.
function Rent({ offer }: { offer: Offer }) {
  return (
    <Button
      component={Link}
      href={rentLink(offer)}
      size="xs"
      maw={180}
      aria-label={`Rent from ${offer.lender}: ${offer.machine_name}, ${offer.class}`}
    >
      Rent from {offer.lender}
    </Button>
  );
}

function Reliable({ offer }: { offer: Offer }) {
  return offer.leases === 0 ? (
    <Badge variant="light" color="blue" tt="none">
      new
    </Badge>
  ) : (
    <span>{reliabilityText(offer)}</span>
  );
}

const place = (o: Offer) => [o.region, o.rtt_ms > 0 ? `${o.rtt_ms} ms away` : ''].filter(Boolean).join(', ') || '–';

function Card({ offer: o }: { offer: Offer }) {
  return (
    <Paper withBorder p="md" component="article" aria-label={`${o.machine_name}, ${o.class}`}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <div style={{ minWidth: 0 }}>
          <Text fw={600} truncate>
            {o.machine_name}
          </Text>
          <Text size="xs" c="dimmed">
            {`${count(o.free, 'slot')} of ${o.class} free, lent by ${o.lender}`}
          </Text>
        </div>
        <StateBadge state={o.state} />
      </Group>
      <Load offer={o} />
      <SimpleGrid cols={2} spacing="xs">
        <Fact label="Price, slot-hour" about={o.price === undefined ? 'the market’s' : undefined}>
          {credits(o.asks)}
        </Fact>
        <Fact label="Per unit of speed">{o.per_speed === undefined ? '–' : credits(o.per_speed)}</Fact>
        <Fact label="GPU">{gpuText(o)}</Fact>
        <Fact label="Cores, memory">{`${o.cores}, ${gib(o.memory)}`}</Fact>
        <Fact label="Speed of a slot">{speedText(o)}</Fact>
        <Fact label="Reliability">
          <Reliable offer={o} />
        </Fact>
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt="xs">
        {`Has ${environmentText(o)}. Region: ${place(o)}. Open: ${windowText(o)}.`}
        {!o.sandboxed && ' Programs run there without a sandbox.'}
      </Text>
      <Group mt="sm">
        <Rent offer={o} />
      </Group>
    </Paper>
  );
}

function Row({ offer: o }: { offer: Offer }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={600}>
          {o.machine_name}
        </Text>
        <Text size="xs" c="dimmed">
          {`${o.free} of ${count(o.slots, `${o.class} slot`)} free, by ${o.lender}`}
        </Text>
        {o.state !== 'open' && <StateBadge state={o.state} />}
        <Load offer={o} />
      </Table.Td>
      <Table.Td>{gpuText(o)}</Table.Td>
      <Table.Td ta="right">{o.cores}</Table.Td>
      <Table.Td ta="right">{gib(o.memory)}</Table.Td>
      <Table.Td ta="right">
        <Text size={o.speed === undefined ? 'xs' : 'sm'}>{speedText(o)}</Text>
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }} miw={120}>
        <Text size="xs">{environmentText(o)}</Text>
        {!o.sandboxed && (
          <Text size="xs" c="red">
            no sandbox
          </Text>
        )}
      </Table.Td>
      <Table.Td>{place(o)}</Table.Td>
      <Table.Td>
        <Reliable offer={o} />
      </Table.Td>
      <Table.Td ta="right">{priceText(o)}</Table.Td>
      <Table.Td ta="right">{o.per_speed === undefined ? '–' : credits(o.per_speed)}</Table.Td>
      <Table.Td>
        <Text size="xs">{windowText(o)}</Text>
      </Table.Td>
      <Table.Td>
        <Rent offer={o} />
      </Table.Td>
    </Table.Tr>
  );
}

const kHeads: [text: string, right?: boolean][] = [
  ['Machine'], ['GPU'], ['Cores', true], ['Memory', true], ['Speed', true], ['Environment'], ['Region'], ['Reliability'],
  ['Price', true], ['Per speed', true], ['Open'], [''],
];

// A table where there is room, cards on a phone.
export function OffersView({ offers }: { offers: Offer[] }) {
  const narrow = useMediaQuery('(max-width: 62em)', false, { getInitialValueInEffect: false });
  if (narrow)
    return (
      <Stack gap="md">
        {offers.map((o) => (
          <Card key={o.id} offer={o} />
        ))}
      </Stack>
    );
  return (
    <Table.ScrollContainer minWidth={980}>
      {/* Words stay whole: the columns of this table are too many for words that may be cut anywhere. */}
      <Table
        highlightOnHover
        verticalSpacing="xs"
        horizontalSpacing={8}
        style={{ overflowWrap: 'normal' }}
        aria-label="machines on offer"
      >
        <Table.Thead>
          <Table.Tr>
            {kHeads.map(([text, right]) =>
              text === '' ? (
                <Table.Td key="rent" />
              ) : (
                <Table.Th key={text} {...(right ? { ta: 'right' as const } : {})}>
                  {text}
                </Table.Th>
              ),
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {offers.map((o) => (
            <Row key={o.id} offer={o} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
