import { Anchor, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { CopyLine } from '../../parts/copy-line';
import { Panel } from '../../parts/panel';

const kCards = [
  {
    title: 'How do I lend?', to: '/machines?lend=1', here: 'Lend a machine',
    text: 'Name the machine here and paste one line on it. Then choose how much to lend, the price and the hours. On the command line:',
    lines: ['souk doctor', 'souk login NAME', 'souk lend --cores 4 --memory 8G --price 0.4'],
  },
  {
    title: 'How do I train?', to: '/jobs/new', here: 'Train a model',
    text: 'Describe the job, read the plan with its time and cost, and submit. On the command line:',
    lines: ['souk plan job.yaml', 'souk run job.yaml', 'souk results JOB -o model'],
  },
  {
    title: 'How do I study?', to: '/lab', here: 'Open the lab',
    text: 'Compare pricing mechanisms on a scenario or on this market’s history. On the command line:',
    lines: [
      'souk clear --mechanism mcafee --book book.json --explain',
      'souk lab run scenario.yaml -o out',
      'souk class compare c1',
    ],
  },
];

// The three things people come for: here, and on the command line.
export function Cards() {
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
      {kCards.map(({ title, to, here, text, lines }) => (
        <Panel key={title} title={title}>
          <Stack gap="xs">
            <Text size="sm">
              <Anchor component={Link} href={to}>
                {here}
              </Anchor>
              . {text}
            </Text>
            {lines.map((line) => (
              <CopyLine key={line} text={line} label={`the command ${line}`} />
            ))}
          </Stack>
        </Panel>
      ))}
    </SimpleGrid>
  );
}
