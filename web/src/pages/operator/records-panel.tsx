import { Badge, SimpleGrid, Table, Text } from '@mantine/core';
import { useGet } from '../../api/queries';
import { count } from '../../format';
import { Empty } from '../../parts/empty';
import { Fact } from '../../parts/fact';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { WideTable } from '../../parts/wide-table';
import { recordRows, treatmentRows } from './records';

// What the mechanisms of a class did while they were in force, side by side.
export function RecordsPanel({ name }: { name: string }) {
  const records = useGet('/v1/classes/{name}/mechanisms', { path: { name } });
  return (
    <Panel title={`Records of ${name}`}>
      <Loaded query={records} height={420}>
        {({ items = [], treatment }) => (
          <>
            {items.length === 0 ? (
              <Empty title="No round has been cleared yet">
                Numbers of each mechanism appear here once it has met supply and demand.
              </Empty>
            ) : (
              <WideTable minWidth={150 + 140 * items.length}>
                <Table verticalSpacing={4} aria-label={`records of the mechanisms of ${name}`}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Metric</Table.Th>
                      {items.map((r) => (
                        <Table.Th key={r.mechanism} ta="right">
                          {r.mechanism}{' '}
                          {r.in_force && (
                            <Badge size="sm" variant="light" tt="none">
                              in force
                            </Badge>
                          )}
                        </Table.Th>
                      ))}
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {recordRows.map(({ title, about, text }) => (
                      <Table.Tr key={title}>
                        <Table.Th scope="row" fw={500} miw={130}>
                          {title}{' '}
                          <Text span size="xs" c="dimmed" visibleFrom="xs">
                            {about}
                          </Text>
                        </Table.Th>
                        {items.map((r) => (
                          <Table.Td key={r.mechanism} ta="right">
                            {text(r)}
                          </Table.Td>
                        ))}
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </WideTable>
            )}
            {treatment.borrowers > 0 && (
              <>
                <Text size="sm" mt="md" mb="xs">
                  How this class treats its {count(treatment.borrowers, 'borrower')}, under all mechanisms together:
                </Text>
                <SimpleGrid cols={{ base: 2, sm: 4 }}>
                  {treatmentRows(treatment).map(({ title, about, text }) => (
                    <Fact key={title} label={title} about={about}>
                      {text}
                    </Fact>
                  ))}
                </SimpleGrid>
              </>
            )}
            <Text size="xs" c="dimmed" mt="sm">
              Gains are by the prices that people named. Regret, the gain from false names and true values cannot be
              seen in a live market: the lab shows them.
            </Text>
          </>
        )}
      </Loaded>
    </Panel>
  );
}
