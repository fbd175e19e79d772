import { Group, Radio, SimpleGrid, Text } from '@mantine/core';
import type { Schemas } from '../../../api/client';
import { useGet } from '../../../api/queries';
import { Empty } from '../../../parts/empty';
import { Loaded } from '../../../parts/page';

// Jobs that run as they are, to begin from.
export function Samples({ picked, onPick }: { picked: string; onPick: (sample: Schemas['Sample']) => void }) {
  const query = useGet('/v1/samples', {});
  return (
    <Loaded query={query} height={220}>
      {({ items = [] }) =>
        items.length === 0 ? (
          <Empty title="This market has no samples">Choose a model and data, or bring files of your own.</Empty>
        ) : (
          <Radio.Group
            aria-label="Sample"
            value={picked}
            onChange={(name) => {
              const sample = items.find((s) => s.name === name);
              if (sample) onPick(sample);
            }}
          >
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              {items.map((s) => (
                <Radio.Card key={s.name} value={s.name} p="sm" aria-label={s.title}>
                  <Group wrap="nowrap" align="flex-start" gap="sm">
                    <Radio.Indicator />
                    <div>
                      <Text size="sm" fw={600}>
                        {s.title}
                      </Text>
                      <Text size="xs" c="dimmed">
                        {s.description}
                      </Text>
                    </div>
                  </Group>
                </Radio.Card>
              ))}
            </SimpleGrid>
          </Radio.Group>
        )
      }
    </Loaded>
  );
}
