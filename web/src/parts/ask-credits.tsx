import { Alert, Button, Group, NumberInput, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../api/client';
import { change, useChange, useGet } from '../api/queries';
import { credits } from '../format';
import { useMe } from '../session';

type Request = Schemas['CreditRequest'];

// What became of the last request.
export function answerText(r: Request): string {
  if (r.answered === undefined) return `You asked for ${credits(r.amount)} credits. The operator has not answered yet.`;
  const said = r.word ? `: “${r.word}”` : '';
  return r.granted === undefined
    ? `The operator declined your request${said}.`
    : `The operator granted ${credits(r.granted)} credits${said}.`;
}

// An operator needs to ask nobody.
function GrantOneself({ amount }: { amount: number }) {
  const me = useMe();
  const grant = useChange(
    () => change('post', '/v1/accounts/{name}/grant', { path: { name: me.name }, body: { amount, memo: 'for myself' } }),
    { said: `You received ${credits(amount)} credits.` },
  );
  return (
    <Group gap="sm">
      <Button loading={grant.isPending} onClick={() => grant.mutate()}>
        Give yourself {amount} credits
      </Button>
      <Text size="sm" c="dimmed">
        You operate this market: you create its credits.
      </Text>
    </Group>
  );
}

function AskForm({ amount, onSent }: { amount: number; onSent: () => void }) {
  const [wanted, setWanted] = useState<number | string>(amount);
  const [why, setWhy] = useState('');
  const ask = useChange(
    () => change('post', '/v1/credits/requests', { body: { amount: Number(wanted), why: why.trim() } }),
    { said: 'The operator sees your request.', done: onSent },
  );
  const ready = Number(wanted) > 0 && why.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) ask.mutate();
  };
  return (
    <form onSubmit={submit} aria-label="ask for credits">
      <Stack gap="xs">
        <Group align="flex-start" gap="sm">
          <NumberInput label="Credits" min={0} decimalScale={6} w={120} value={wanted} onChange={setWanted} />
          <Textarea
            label="What for"
            placeholder="To train a first model"
            required
            autosize
            minRows={1}
            maxLength={4000}
            flex={1}
            miw={200}
            value={why}
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
        </Group>
        <Button type="submit" w="fit-content" disabled={!ready} loading={ask.isPending}>
          Ask the operator
        </Button>
      </Stack>
    </form>
  );
}

// Asks the operator for credits, or shows what became of it.
export function AskCredits({ amount }: { amount: number }) {
  const me = useMe();
  const requests = useGet('/v1/credits/requests', {}, { enabled: !me.operator, every: 15_000 });
  const [again, setAgain] = useState(false);
  if (me.operator) return <GrantOneself amount={amount} />;
  const last = requests.data?.items?.[0];
  return (
    <Stack gap="xs">
      {last && (
        <Alert color={last.answered === undefined ? 'blue' : last.granted === undefined ? 'yellow' : 'teal'} role="status">
          {answerText(last)}
        </Alert>
      )}
      {last && !again ? (
        <Button variant="default" size="xs" w="fit-content" onClick={() => setAgain(true)}>
          {last.answered === undefined ? 'Ask for something else' : 'Ask again'}
        </Button>
      ) : (
        <AskForm amount={amount} onSent={() => setAgain(false)} />
      )}
    </Stack>
  );
}
