import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Measure } from './measures';
import { WideTable } from '../../parts/wide-table';

type Props = {
  label: string;
  measures: Measure[];
  columns: string[];
  about?: boolean; // Says what each measure is.
  cell: (measure: Measure, column: number) => ReactNode; // Nothing: a dash.
};

// Measures down, mechanisms across.
export function MeasureTable({ label, measures, columns, about = false, cell }: Props) {
  return (
    <WideTable minWidth={150 + 150 * columns.length}>
      <Table verticalSpacing={4} highlightOnHover aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Metric</Table.Th>
            {columns.map((name) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {measures.map((measure) => (
            <Table.Tr key={measure.field}>
              <Table.Th scope="row" fw={500} miw={130}>
                {measure.title}{' '}
                {about && (
                  <Text span size="xs" c="dimmed" visibleFrom="xs">
                    {measure.about}
                  </Text>
                )}
              </Table.Th>
              {columns.map((name, i) => (
                <Table.Td key={name} ta="right" style={{ whiteSpace: 'nowrap' }}>
                  {cell(measure, i) ?? '–'}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
