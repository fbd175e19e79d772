import { Badge, Button, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { usePages } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { When } from '../../parts/when';

const kColors: Record<string, string> = { question: 'blue', problem: 'red', idea: 'grape', praise: 'teal' };

// What people say, newest first.
export function Feedback() {
  const [category, setCategory] = useState('all');
  const pages = usePages('/v1/feedback', { query: { limit: 100 } }, { every: 10_000 });
  return (
    <Panel title="Feedback">
      <Stack gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="category"
          value={category}
          onChange={setCategory}
          data={['all', ...Object.keys(kColors)].map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }))}
          style={{ alignSelf: 'flex-start' }}
        />
        <Loaded query={pages} height={320}>
          {({ items }) => {
            const shown = items.filter((f) => category === 'all' || f.category === category);
            return shown.length === 0 ? (
              <Empty title="Nobody has said anything here yet">People write from the help page.</Empty>
            ) : (
              <>
                {shown.map((f) => (
                  <Paper key={f.id} withBorder p="sm" component="article" aria-label={`${f.category} from ${f.account}`}>
                    <Group gap="xs" mb={4}>
                      <Badge variant="light" tt="none" color={kColors[f.category] ?? 'gray'}>
                        {f.category}
                      </Badge>
                      <Text size="sm" fw={600}>
                        {f.account}
                      </Text>
                      <Text size="xs" c="dimmed">
                        <When at={f.at} />
                      </Text>
                    </Group>
                    <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
                      {f.text}
                    </Text>
                  </Paper>
                ))}
              </>
            );
          }}
        </Loaded>
        {pages.hasNextPage && (
          <Button
            size="xs"
            variant="default"
            loading={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
            style={{ alignSelf: 'flex-start' }}
          >
            Show older ones
          </Button>
        )}
      </Stack>
    </Panel>
  );
}
