import { Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useGet } from '../../api/queries';
import { bytes } from '../../format';
import { Chart } from '../../parts/chart';
import { Fact } from '../../parts/fact';
import type { Lease, Machine } from './leases';
import { totalUse } from './total-use';

const kHeight = 180;
const kAround = 80; // The facts above the chart and the legend below it.

// Cores and memory that the programs of these leases use together. Their agent says so with every
// heartbeat, for which there are no events.
export function LiveUse({ machine, leases }: { machine: Machine; leases: Lease[] }) {
  const usage = useGet('/v1/machines/{id}/usage', { path: { id: machine.id } }, { every: 2_000 });
  const used = useMemo(() => {
    const here = new Set(leases.map((l) => l.id));
    return totalUse((usage.data?.items ?? []).filter((series) => here.has(series.lease)));
  }, [usage.data, leases]);
  const cores = used.cores.at(-1);
  const memory = used.memory.at(-1);
  if (used.at.length < 2 || cores === undefined || memory === undefined)
    return (
      <Text size="sm" c="dimmed" mih={kHeight + kAround}>
        The use of cores and memory is shown here after the second measurement.
      </Text>
    );
  return (
    <>
      <Group gap="xl" mb="xs">
        <Fact label="Cores in use">
          {cores.toFixed(1)} of {machine.spec.cores}
        </Fact>
        <Fact label="Memory in use">
          {bytes(memory)} of {bytes(machine.spec.memory_mib * 2 ** 20)}
        </Fact>
      </Group>
      <Chart
        label="Cores and memory in use by the programs on this machine"
        time
        x={used.at}
        series={[
          { label: 'cores', values: used.cores },
          { label: 'memory, GiB', values: used.memory.map((m) => m / 2 ** 30), scale: 'right', dash: true },
        ]}
        format={(y) => y.toFixed(1)}
        formatRight={(y) => y.toFixed(2)}
        from0
        height={kHeight}
      />
    </>
  );
}
