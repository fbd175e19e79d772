import { SimpleGrid } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { change, useChange } from '../../api/queries';
import { dateTime } from '../../format';
import { Fact } from '../../parts/fact';
import { Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { leave, useMe } from '../../session';
import { Password } from './password';
import { Tokens } from './tokens';

export default function Account() {
  const me = useMe();
  const client = useQueryClient();
  const [, go] = useLocation();
  const everywhere = useChange(() => change('delete', '/v1/tokens', {}), {
    leaves: true,
    done: () => {
      leave(client);
      go('/');
    },
  });
  return (
    <Page title="Account" about="Who you are here, and what may act for you.">
      <Panel title="You">
        <SimpleGrid cols={{ base: 2, sm: 4 }}>
          <Fact label="Name">{me.name}</Fact>
          <Fact label="Account">{me.id}</Fact>
          <Fact label="Role">{me.operator ? 'operator' : 'user'}</Fact>
          <Fact label="Since">{dateTime(me.created)}</Fact>
        </SimpleGrid>
      </Panel>
      <Tokens onEverywhere={() => everywhere.mutate()} />
      <Password name={me.name} />
    </Page>
  );
}
