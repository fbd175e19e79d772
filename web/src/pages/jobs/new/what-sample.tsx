import { Group, Radio, SimpleGrid, Text } from '@mantine/core';
import type { Schemas } from '../../../api/client';
import { useGet } from '../../../api/queries';
import { Empty } from '../../../parts/empty';
import { Loaded } from '../../../parts/page';
import { cheapestFirst } from './use-draft';

type Sample = Schemas['Sample'];

function Card({ sample }: { sample: Sample }) {
  return (
    <Radio.Card value={sample.name} p="sm" aria-label={sample.title}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator />
        <div>
          <Text size="sm" fw={600}>
            {sample.title}
          </Text>
          <Text size="xs" c="dimmed">
            {sample.description}
          </Text>
        </div>
      </Group>
    </Radio.Card>
  );
}

function Cards({ samples, picked, onPick }: { samples: Sample[] } & Props) {
  const choose = (name: string) => {
    const sample = samples.find((s) => s.name === name);
    if (sample) onPick(sample);
  };
  return (
    <Radio.Group aria-label="Sample" value={picked} onChange={choose}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {cheapestFirst(samples).map((s) => (
          <Card key={s.name} sample={s} />
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}

type Props = { picked: string; onPick: (sample: Sample) => void };

// Jobs that run as they are, to begin from.
export function Samples(props: Props) {
  const query = useGet('/v1/samples', {});
  return (
    <Loaded query={query} height={220}>
      {({ items = [] }) =>
        items.length === 0 ? (
          <Empty title="This market has no samples">
            Choose a model and data, or bring a folder of your own.
          </Empty>
        ) : (
          <Cards samples={items} {...props} />
        )
      }
    </Loaded>
  );
}
