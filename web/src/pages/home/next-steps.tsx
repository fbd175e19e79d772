import { Paper, SimpleGrid, Text, ThemeIcon, Title } from '@mantine/core';
import { IconDeviceDesktopPlus, IconFlask, IconPlayerPlay } from '@tabler/icons-react';
import { Link } from 'wouter';
import classes from './next-steps.module.css';

const kSteps = [
  {
    to: '/machines?lend=1', icon: IconDeviceDesktopPlus, title: 'Lend a machine',
    text: 'One line on a spare computer, and it earns credits while others use it.',
  },
  {
    to: '/jobs/new', icon: IconPlayerPlay, title: 'Train a model',
    text: 'See what it would take and cost before anything is spent; then run it on other people’s machines.',
  },
  {
    to: '/lab', icon: IconFlask, title: 'Study prices',
    text: 'Try pricing mechanisms on an order book, on a simulated community or on this market’s own history.',
  },
];

// Each of the three things people come for, one click away.
export function NextSteps() {
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
      {kSteps.map(({ to, icon: Icon, title, text }) => (
        <Paper key={to} withBorder p="md" component={Link} href={to} className={classes.card}>
          <ThemeIcon variant="light" size="lg" mb={6}>
            <Icon size={20} aria-hidden />
          </ThemeIcon>
          <Title order={2} size="h5">
            {title}
          </Title>
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
