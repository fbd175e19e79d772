import { Group, Spoiler, Text } from '@mantine/core';
import { bytes, count } from '../../format';
import { Fact } from '../../parts/fact';
import type { Machine } from './leases';

const kMib = 1024 ** 2;
const isMark = (p: string) => p.startsWith('@');

// What the agent found on a machine.
export function Detected({ machine: { spec } }: { machine: Machine }) {
  const packages = (spec.packages ?? []).filter((p) => !isMark(p));
  const marks = (spec.packages ?? []).filter(isMark).map((p) => p.slice(1));
  return (
    <>
      <Group gap="xl" align="flex-start">
        <Fact label="Cores" about={spec.cpu}>
          {spec.cores}
        </Fact>
        <Fact label="Memory">{bytes(spec.memory_mib * kMib)}</Fact>
        <Fact label="GPUs" about={spec.gpus > 0 && `${spec.gpu}, ${bytes(spec.gpu_memory_mib * kMib)} each`}>
          {spec.gpus}
        </Fact>
        <Fact label="Disk">{bytes(spec.disk_mib * kMib)}</Fact>
        <Fact label="Round trip">{spec.rtt_ms} ms</Fact>
        <Fact label="System" about={[spec.region, spec.provider].filter(Boolean).join(', ')}>
          {spec.os || '–'}
        </Fact>
      </Group>
      {(packages.length > 0 || marks.length > 0) && (
        <Spoiler
          maxHeight={44}
          mt="sm"
          showLabel={`Show all ${count(packages.length, 'package')}`}
          hideLabel="Show less"
        >
          <Text size="sm" c="dimmed">
            {marks.length > 0 && `Can do: ${marks.join(', ')}. `}
            {packages.length > 0 && `Python packages: ${packages.join(', ')}.`}
          </Text>
        </Spoiler>
      )}
    </>
  );
}
