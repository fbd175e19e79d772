import { Alert, Anchor, Button, Code, Group, Loader, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { CopyLine } from '../../parts/copy-line';
import { Dialog } from '../../parts/dialog';
import { Worth } from '../../parts/worth';
import { Detected } from './detected';
import { isKnown, type Machine } from './leases';

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
      <Code block my={4} style={{ whiteSpace: 'pre-wrap' }}>
        {'sudo apt install bubblewrap\nmake build && sudo make install  # in the source of Souk\nsouk doctor  # says what is missing'}
      </Code>
      It needs no root to lend, and nothing to be opened in a firewall: it connects outward. While it joins a gang of
      machines it opens a port; with <Code>--relayed</Code> it never does.
    </Text>
  );
}

function OwnLine({ market, token }: { market: string; token: string }) {
  return <CopyLine text={`SOUK_TOKEN=${token} souk lend --server ${market}`} label="the line to paste, with souk" />;
}

// What becomes of trainings with a built-in model on a computer that has no trainer.
function Trainer({ bytes }: { bytes: number | undefined }) {
  if (bytes === undefined)
    return (
      <>
        No trainer comes with it: trainings with a built-in model go to other machines, unless <Code>souk-torch</Code>{' '}
        is installed on that computer.
      </>
    );
  return (
    <>
      It then fetches the built-in trainer ({Math.ceil(bytes / 1e6)} MB) if the computer has none;{' '}
      <Code>--no-trainer</Code> at the end of the line refuses it.
    </>
  );
}

// One line for a computer that has nothing, where the market has souk to give; and one for a computer that has souk.
function Lines({ token, known }: { token: string; known: boolean }) {
  const agent = useGet('/v1/agent', {});
  if (agent.isPending) return <Loader size="sm" aria-label="loading" />;
  const market = agent.data?.public_url || window.location.origin;
  if (!agent.data?.available)
    return (
      <>
        <OwnLine market={market} token={token} />
        {!known && <Install />}
      </>
    );
  const { version, sha256, bytes, trainer } = agent.data;
  return (
    <>
      <CopyLine text={`curl -fsS ${market}/lend | sh -s ${token}`} label="the line to paste" />
      {!known && (
        <Text size="sm" c="dimmed" component="div">
          It needs Linux on x86-64 and no root, and nothing to be opened in a firewall. It fetches souk {version} (
          {Math.ceil(bytes / 1e6)} MB), checks it, installs it below your home folder and lends. <Trainer bytes={trainer?.bytes} /> Read it
          first, if you like: <Anchor href={`${market}/lend`} target="_blank" rel="noreferrer">{market}/lend</Anchor>. The
          SHA-256 of what it fetches is
          <Code block my={4} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {sha256}
          </Code>
        </Text>
      )}
      <Text size="sm">Or, where souk is installed already:</Text>
      <OwnLine market={market} token={token} />
    </>
  );
}

// Goes on by itself when the agent has said what it found.
export function LendLine({ machine, token }: Issued) {
  const seen = useGet('/v1/machines/{id}', { path: { id: machine.id } }, { every: 2_000 });
  const known = seen.data && isKnown(seen.data) ? seen.data : undefined;
  return (
    <Stack>
      <Text size="sm">Paste this line into a terminal on the computer to lend:</Text>
      <Lines token={token} known={known !== undefined} />
      <Text size="sm" c="dimmed">
        It is shown once. Its token can act for this machine only; anyone who has it can lend in your name.
      </Text>
      <div role="status">
        {known ? (
          <Alert color="teal" title={`${known.name} is here`}>
            <Detected machine={known} />
            <Button component={Link} href={`/machines/${known.id}`} mt="md">
              Choose slots, price and hours
            </Button>
          </Alert>
        ) : (
          <Group gap="sm" wrap="nowrap" mih={60}>
            <Loader size="sm" aria-label="waiting" />
            <Text size="sm">Waiting for {machine.name}. It shows here as soon as the line runs.</Text>
          </Group>
        )}
      </div>
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
        <Worth />
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
