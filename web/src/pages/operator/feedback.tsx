import { Paper, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { usePages } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { More } from '../../parts/more';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { kCategories, Remark } from '../../parts/remark';

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
          data={['all', ...kCategories].map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }))}
          style={{ alignSelf: 'flex-start' }}
        />
        <Loaded query={pages} height={320}>
          {({ items }) => {
            const shown = items.filter((f) => category === 'all' || f.category === category);
            return shown.length === 0 ? (
              <Empty title="No messages yet">People write from the help page.</Empty>
            ) : (
              <>
                {shown.map((f) => (
                  <Paper key={f.id} withBorder p="sm" component="article" aria-label={`${f.category} from ${f.account}`}>
                    <Remark remark={f} signed />
                  </Paper>
                ))}
              </>
            );
          }}
        </Loaded>
        <More pages={pages} label="Show older ones" />
      </Stack>
    </Panel>
  );
}
