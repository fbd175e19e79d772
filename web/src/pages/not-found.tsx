import { Anchor, List, Text } from '@mantine/core';
import { Link } from 'wouter';
import { near } from '../parts/near';
import { Page } from '../parts/page';
import { Panel } from '../parts/panel';
import { kPages } from './pages';

const kNames = kPages.map(({ path }) => path.slice(1)).filter((name) => name !== '' && !name.includes(':'));

// For an address that no page has.
export function NotFound({ path }: { path: string }) {
  const wanted = path.slice(1);
  const found = [...new Set([...near(wanted, kNames), ...near(wanted.split('/')[0] ?? '', kNames)])];
  return (
    <Page title="No such page">
      <Panel title={`There is no page at ${path}`}>
        <Text size="sm">
          {found.length > 0 ? 'Pages with a similar address:' : 'The menu lists every page.'}
        </Text>
        <List mt="xs" size="sm">
          {[...found.map((name) => `/${name}`), '/'].map((to) => (
            <List.Item key={to}>
              <Anchor component={Link} href={to}>
                {to === '/' ? 'Home' : to}
              </Anchor>
            </List.Item>
          ))}
        </List>
      </Panel>
    </Page>
  );
}
