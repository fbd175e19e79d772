import { Alert, Button, Code, Group, Loader, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { CopyLine } from '../../parts/copy-line';
import { Dialog } from '../../parts/dialog';
import { isKnown, type Machine } from './leases';
import { Detected } from './detected';

// The agent says what the machine has when it starts; until then it has next to nothing.
const kUnknown = {
  cores: 1, memory_mib: 1, disk_mib: 0, gpus: 0, gpu_memory_mib: 0, gpu: '', cpu: '', os: '', region: '',
  provider: 'community', rtt_ms: 0,
};

type Issued = { machine: Machine; token: string };

export async function tokenFor(machine: Machine): Promise<Issued> {
  const { token } = await change('post', '/v1/tokens', {
    body: { scope: 'machine', machine: machine.id, label: machine.name },
  });
  return { machine, token };
}

function Install() {
  return (
    <Text size="sm" c="dimmed" component="div">
      That computer needs <Code>souk</Code> and <Code>bubblewrap</Code>, which keeps programs apart:
      <Code block my={4}>
        {'sudo apt install bubblewrap\nmake build && sudo make install   # in the source of Souk\nsouk doctor                       # says what is missing'}
      </Code>
      It needs no root to lend, and no open port: it connects outward only.
    </Text>
  );
}

// Goes on by itself when the agent has said what it found.
export function LendLine({ machine, token }: Issued) {
  const seen = useGet('/v1/machines/{id}', { path: { id: machine.id } }, { every: 2_000 });
  const known = seen.data && isKnown(seen.data) ? seen.data : undefined;
  return (
    <Stack>
      <Text size="sm">Paste this line into a terminal on the computer to lend:</Text>
      <CopyLine text={`SOUK_TOKEN=${token} souk lend --server ${window.location.origin}`} label="the line to paste" />
      <Text size="sm" c="dimmed">
        It is shown once. Its token can act for this machine only; who has it can lend in your name.
      </Text>
      <div role="status">
        {known ? (
          <Alert color="teal" title={`${known.name} is here`}>
            <Detected machine={known} />
            <Button component={Link} href={`/machines/${known.id}`} mt="md">
              Choose part, price and windows
            </Button>
          </Alert>
        ) : (
          <Group gap="sm" wrap="nowrap" mih={60}>
            <Loader size="sm" aria-label="waiting" />
            <Text size="sm">Waiting for {machine.name}. It shows here as soon as the line runs.</Text>
          </Group>
        )}
      </div>
      {!known && <Install />}
    </Stack>
  );
}

function NameForm({ onIssued }: { onIssued: (issued: Issued) => void }) {
  const [name, setName] = useState('');
  const [made, setMade] = useState<Machine>();
  const make = useChange(
    async () => {
      // A machine that was made before its token was refused is used again.
      const machine =
        made?.name === name ? made : await change('post', '/v1/machines', { body: { name, spec: kUnknown } });
      setMade(machine);
      return tokenFor(machine);
    },
    { quiet: true, done: onIssued },
  );
  const refused = make.error instanceof ApiError ? make.error : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          Its spare cores, memory and GPUs earn credits while others use them. Programs run in a sandbox: they see
          none of your files and no network. You choose how much, when and for what price, and can stop at any time.
        </Text>
        <TextInput
          label="Name of the machine"
          description="As you call it: den, lab-3, gaming-pc."
          required
          maxLength={40}
          data-autofocus
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
          error={refused?.field === 'name' && `${refused.message}. ${refused.hint}`}
        />
        {refused && refused.field !== 'name' && (
          <Alert color="red" role="alert" title={refused.message}>
            {refused.hint}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={make.isPending} disabled={name.trim() === ''}>
            Make the line to paste
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function LendDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [issued, setIssued] = useState<Issued>();
  const close = () => {
    onClose();
    setIssued(undefined);
  };
  return (
    <Dialog opened={opened} onClose={close} title="Lend a machine">
      {issued ? <LendLine {...issued} /> : <NameForm onIssued={setIssued} />}
    </Dialog>
  );
}
