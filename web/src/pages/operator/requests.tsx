import { Badge, Button, Group, NumberInput, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { credits } from '../../format';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { When } from '../../parts/when';

type Request = Schemas['CreditRequest'];

function Answer({ request }: { request: Request }) {
  const [amount, setAmount] = useState<number | string>(request.amount);
  const [word, setWord] = useState('');
  const answer = useChange(
    (granted: number | undefined) =>
      change('post', '/v1/accounts/{name}/request', {
        path: { name: request.account },
        body: { word: word.trim(), ...(granted === undefined ? {} : { amount: granted }) },
      }),
    { said: `${request.account} sees your answer.` },
  );
  return (
    <Group align="flex-end" gap="xs" mt="xs">
      <NumberInput label="Grant" min={0} decimalScale={6} w={120} value={amount} onChange={setAmount} />
      <TextInput
        label="Message"
        placeholder="Good luck"
        maxLength={4000}
        flex={1}
        miw={160}
        value={word}
        onChange={(e) => setWord(e.currentTarget.value)}
      />
      <Button
        aria-label={`Grant ${request.account}`}
        disabled={!(Number(amount) > 0)}
        loading={answer.isPending}
        onClick={() => answer.mutate(Number(amount))}
      >
        Grant
      </Button>
      <Button
        variant="default"
        aria-label={`Decline ${request.account}`}
        loading={answer.isPending}
        onClick={() => answer.mutate(undefined)}
      >
        Decline
      </Button>
    </Group>
  );
}

function Asked({ request: r }: { request: Request }) {
  const open = r.answered === undefined;
  return (
    <Paper withBorder p="sm" component="article" aria-label={`request of ${r.account}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{`${r.account} asks for ${credits(r.amount)}`}</Text>
        <Group gap="xs">
          {!open && (
            <Badge variant="light" tt="none" color={r.granted === undefined ? 'gray' : 'teal'}>
              {r.granted === undefined ? 'declined' : `granted ${credits(r.granted)}`}
            </Badge>
          )}
          <Text size="xs" c="dimmed">
            <When at={r.at} />
          </Text>
        </Group>
      </Group>
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {r.why}
      </Text>
      {open ? <Answer request={r} /> : r.word && <Text size="sm" c="dimmed">{`You said: ${r.word}`}</Text>}
    </Paper>
  );
}

// Who asks for credits, those that wait longest first.
export function Requests() {
  const requests = useGet('/v1/credits/requests', {}, { every: 10_000 });
  return (
    <Panel title="Requests for credits">
      <Loaded query={requests} height={240}>
        {({ items = [] }) =>
          items.length === 0 ? (
            <Empty title="No requests for credits">People without credits can ask on the New job page.</Empty>
          ) : (
            <Stack gap="sm">
              {items.map((r) => (
                <Asked key={`${r.account} ${r.at}`} request={r} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}
