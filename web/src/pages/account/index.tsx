import { Anchor, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { change, useChange } from '../../api/queries';
import { credits, dateTime } from '../../format';
import { AskCredits } from '../../parts/ask-credits';
import { Fact } from '../../parts/fact';
import { Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { leave, useMe } from '../../session';
import { Budgets } from './budgets';
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
    <Page title="Account" about="Your account, your password, and the tokens that act for you.">
      <Panel title="You">
        <SimpleGrid cols={{ base: 2, sm: 4 }}>
          <Fact label="Name">{me.name}</Fact>
          <Fact label="Account">{me.id}</Fact>
          <Fact label="Role">{me.operator ? 'operator' : 'user'}</Fact>
          <Fact label="Since">{dateTime(me.created)}</Fact>
        </SimpleGrid>
      </Panel>
      <Panel title="Credits">
        <Stack gap="sm">
          <Text size="sm">
            {`You have ${credits(me.available + me.bonus)}, and ${credits(me.escrow)} are set aside for jobs. `}
            <Anchor component={Link} href="/machines?lend=1" inherit>
              Lend a machine
            </Anchor>{' '}
            to earn more, or ask whoever runs this market.
          </Text>
          <AskCredits amount={me.operator ? 100 : 20} />
        </Stack>
      </Panel>
      <Budgets name={me.name} />
      <Tokens onEverywhere={() => everywhere.mutate()} />
      <Password name={me.name} />
    </Page>
  );
}
