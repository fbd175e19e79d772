import { Group, ScrollArea, Table, Text } from '@mantine/core';
import { memo } from 'react';
import type { Schemas } from '../../../api/client';
import { duration } from '../../../format';
import { Panel } from '../../../parts/panel';
import { WideTable } from '../../../parts/wide-table';
import {
  kParts,
  type Share,
  sharesOf,
  sharesText,
  type WorkerTime,
  workerTimes,
  worstStall,
} from './time-spent';
import classes from './stalls.module.css';

const kMostRows = 100;
const paint = (color: string) => ({ background: `var(--mantine-color-${color.replace('.', '-')})` });

function Bar({ shares, of }: { shares: Share[]; of: string }) {
  const text = sharesText(shares);
  return (
    <div className={classes.bar} role="img" aria-label={`${of}: ${text || 'nothing yet'}`} title={text}>
      {shares.map((s) =>
        s.share > 0 ? (
          <span
            key={s.text}
            className={classes.piece}
            style={{ width: `${100 * s.share}%`, ...paint(s.color) }}
            title={`${s.text} ${duration(s.seconds)}`}
          />
        ) : null,
      )}
    </div>
  );
}

function Legend({ shares }: { shares: Share[] }) {
  return (
    <Group gap="md" mt="xs">
      {kParts.map(({ text, color }, i) => (
        <Text key={text} size="xs" component="span">
          <span className={classes.key} style={paint(color)} aria-hidden="true" />
          {text} <b className="numbers">{Math.round(100 * (shares[i]?.share ?? 0))}%</b>
        </Text>
      ))}
    </Group>
  );
}

const lossText = (w: WorkerTime) =>
  [w.lost > 0 && `${w.lost} lost`, w.rejected > 0 && `${w.rejected} refused`].filter(Boolean).join(', ');

type Props = { training: Schemas['Training']; machineOf: (lease: string) => string };

// Where the time goes: for all workers together, and for each.
export const Stalls = memo(function Stalls({ training, machineOf }: Props) {
  const all = sharesOf(training.spent);
  const rows = workerTimes(training.by_worker ?? []);
  const worst = worstStall(all.shares);
  return (
    <Panel title="Where the time goes">
      {all.total === 0 ? (
        <Text size="sm" c="dimmed" mih={80}>
          Workers report how they spend their time after they start.
        </Text>
      ) : (
        <>
          <Bar shares={all.shares} of="all workers" />
          <Legend shares={all.shares} />
          {worst && (
            <Text size="sm" mt="xs">
              Apart from training, most of the time goes into {worst.text}: {duration(worst.seconds)} of{' '}
              {duration(all.total)}.
            </Text>
          )}
          <ScrollArea.Autosize mah={360} mt="sm">
            <WideTable minWidth={430}>
              <Table className={classes.table}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Worker</Table.Th>
                    <Table.Th w="40%">Time</Table.Th>
                    <Table.Th ta="right">Units</Table.Th>
                    <Table.Th ta="right">Steps/s</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.slice(0, kMostRows).map((w) => (
                    <Table.Tr key={w.lease}>
                      <Table.Td>
                        {machineOf(w.lease)}
                        <Text size="xs" c="dimmed" title="how its updates are compressed">
                          {w.codec}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Bar shares={w.shares} of={machineOf(w.lease)} />
                      </Table.Td>
                      <Table.Td ta="right">
                        {w.units.toLocaleString('en')}
                        <Text size="xs" c="dimmed">
                          {lossText(w)}
                        </Text>
                      </Table.Td>
                      <Table.Td ta="right">{w.pace.toFixed(1)}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </WideTable>
          </ScrollArea.Autosize>
        </>
      )}
    </Panel>
  );
});
