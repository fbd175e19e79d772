import { Alert, Button, Group, Modal, NumberInput, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { change, useChange } from '../../api/queries';

type Props = { name: string; close: () => void };

function Form({ title, close, send, button, busy, ready, children }: {
  title: string;
  close: () => void;
  send: () => void;
  button: string;
  busy: boolean;
  ready: boolean;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) send();
  };
  return (
    <Modal opened onClose={close} title={title}>
      <form onSubmit={submit}>
        <Stack>
          {children}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Close
            </Button>
            <Button type="submit" loading={busy} disabled={!ready}>
              {button}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

export function GrantForm({ name, close }: Props) {
  const [amount, setAmount] = useState<number | string>(100);
  const [memo, setMemo] = useState('');
  const grant = useChange(
    () => change('post', '/v1/accounts/{name}/grant', { path: { name }, body: { amount: Number(amount), memo } }),
    { said: `${amount} credits are granted to ${name}.`, done: close },
  );
  return (
    <Form
      title={`Grant credits to ${name === 'platform' ? 'the platform' : name}`}
      close={close}
      send={() => grant.mutate()}
      button="Grant credits"
      busy={grant.isPending}
      ready={Number(amount) > 0}
    >
      {name === 'platform' && <Text size="sm">The platform pays sign-up bonuses from what it has.</Text>}
      <NumberInput
        label="Amount"
        description="New credits."
        min={0}
        decimalScale={6}
        value={amount}
        onChange={setAmount}
        data-autofocus
      />
      <TextInput
        label="Memo"
        description="Shows in the account’s ledger and in the audit log."
        placeholder="Course project"
        value={memo}
        onChange={(e) => setMemo(e.currentTarget.value)}
      />
    </Form>
  );
}

export function FreezeForm({ name, close }: Props) {
  const [reason, setReason] = useState('');
  const freeze = useChange(
    () => change('post', '/v1/accounts/{name}/freeze', { path: { name }, body: { reason: reason.trim() } }),
    { said: `${name} is frozen.`, done: close },
  );
  return (
    <Form
      title={`Freeze ${name}`}
      close={close}
      send={() => freeze.mutate()}
      button={`Freeze ${name}`}
      busy={freeze.isPending}
      ready={reason.trim() !== ''}
    >
      <Alert color="yellow">Jobs of {name} pause, and its offers stop trading, until you unfreeze it.</Alert>
      <Textarea
        label="Reason"
        description="The account sees it."
        required
        autosize
        minRows={2}
        value={reason}
        onChange={(e) => setReason(e.currentTarget.value)}
        data-autofocus
      />
    </Form>
  );
}
