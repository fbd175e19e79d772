import { Stack, Table } from '@mantine/core';
import { useState } from 'react';
import { usePages } from '../../api/queries';
import { Empty } from '../../parts/empty';
import { More } from '../../parts/more';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { Search } from '../../parts/search';
import { When } from '../../parts/when';
import { WideTable } from '../../parts/wide-table';

// What operators did, newest first.
export function Audit() {
  const [text, setText] = useState('');
  // What other operators do is no news either.
  const pages = usePages('/v1/audit', { query: { limit: 100 } }, { every: 10_000 });
  const part = text.trim().toLowerCase();
  return (
    <Panel title="Audit log">
      <Stack gap="sm">
        <Search label="Search the log" placeholder="A name, an action or a word" value={text} onChange={setText} />
        <Loaded query={pages} height={320}>
          {({ items }) => {
            const rows = items.filter((e) =>
              `${e.who} ${e.action} ${e.subject} ${e.detail}`.toLowerCase().includes(part),
            );
            return rows.length === 0 ? (
              <Empty title={items.length === 0 ? 'Nothing has been done yet' : 'No entry matches'}>
                Grants, freezes, changes of classes and settings, and an operator’s changes to what belongs to
                others are listed here.
              </Empty>
            ) : (
              <WideTable minWidth={640}>
                <Table verticalSpacing="xs" aria-label="audit log">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>When</Table.Th>
                      <Table.Th>Who</Table.Th>
                      <Table.Th>Action</Table.Th>
                      <Table.Th>Subject</Table.Th>
                      <Table.Th>Detail</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {rows.map((e, i) => (
                      <Table.Tr key={`${e.at} ${i}`}>
                        <Table.Td style={{ whiteSpace: 'nowrap' }}>
                          <When at={e.at} />
                        </Table.Td>
                        <Table.Td>{e.who}</Table.Td>
                        <Table.Td>{e.action}</Table.Td>
                        <Table.Td>{e.subject}</Table.Td>
                        <Table.Td>{e.detail}</Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </WideTable>
            );
          }}
        </Loaded>
        <More pages={pages} label="Show older entries" />
      </Stack>
    </Panel>
  );
}
