import { Anchor, SimpleGrid } from '@mantine/core';
import { Link } from 'wouter';
import { Panel } from '../../parts/panel';
import { guides } from './guides';

export function GuideList() {
  return (
    <Panel title="Guides">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
        {guides.map((g) => (
          <Anchor key={g.name} component={Link} href={`/help/${g.name}`} size="sm">
            {g.title}
          </Anchor>
        ))}
      </SimpleGrid>
    </Panel>
  );
}
