import { Badge, Radio, Table, Text } from '@mantine/core';
import { credits, duration, percent, seconds } from '../../../format';
import { type Candidate, inSeveralClasses, limitText } from './candidates';
import { WideTable } from '../../../parts/wide-table';

type Props = {
  candidates: Candidate[];
  ranges: string; // What they are.
  picked: number | undefined;
  onPick: (index: number) => void;
};

const kWhole = { whiteSpace: 'nowrap' } as const;
const time = (text: string) => duration(seconds(text));

// One row for each number of workers; the planner's choice is marked, anybody's can be taken.
export function CandidatesTable({ candidates, ranges, picked, onPick }: Props) {
  const deadline = candidates.some((c) => c.chance !== undefined);
  const classes = inSeveralClasses(candidates);
  return (
    <WideTable minWidth={deadline ? 640 : 560}>
      <Table aria-label="Candidates">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={40}>
              <Text span fz="sm" c="dimmed">
                Pick
              </Text>
            </Table.Th>
            {classes && <Table.Th>Class</Table.Th>}
            <Table.Th>Cluster</Table.Th>
            {['Time', 'Cost'].map((what) => (
              <Table.Th key={what}>
                {what}{' '}
                <Text span size="xs" c="dimmed">
                  {ranges}
                </Text>
              </Table.Th>
            ))}
            {deadline && <Table.Th>In time</Table.Th>}
            <Table.Th>Limited by</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {candidates.map((c, i) => (
            <Table.Tr key={`${c.class} ${c.workers}`} onClick={() => onPick(i)} style={{ cursor: 'pointer' }}>
              <Table.Td>
                <Radio
                  name="candidate"
                  checked={i === picked}
                  onChange={() => onPick(i)}
                  aria-label={`${c.workers} ${c.workers === 1 ? 'worker' : 'workers'}${classes ? ` of class ${c.class}` : ''}`}
                />
              </Table.Td>
              {classes && <Table.Td>{c.class}</Table.Td>}
              <Table.Td>
                {c.cluster}{' '}
                {c.chosen && (
                  <Badge size="sm" variant="filled" tt="none">
                    recommended
                  </Badge>
                )}
              </Table.Td>
              <Table.Td>
                {time(c.time)}
                <Text size="xs" c="dimmed" style={kWhole}>{`${time(c.time_low)} to ${time(c.time_high)}`}</Text>
              </Table.Td>
              <Table.Td>
                {credits(c.cost)}
                <Text size="xs" c="dimmed" style={kWhole}>{`${credits(c.cost_low)} to ${credits(c.cost_high)}`}</Text>
              </Table.Td>
              {deadline && <Table.Td>{c.chance === undefined ? '–' : percent(c.chance)}</Table.Td>}
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{limitText(c.limit)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
