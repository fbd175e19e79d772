import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { credits } from '../format';
import { AskCredits } from './ask-credits';

// Whole credits, a few more than are missing: what one would ask for.
export const toAskFor = (need: number, have: number): number => Math.max(5, Math.ceil((need - have) / 5) * 5);

// What to do with less credits than a job needs. The plan costs nothing and stays.
export function GetCredits({ need, have }: { need: number; have: number }) {
  if (have >= need && need > 0) return null;
  return (
    <Alert color="yellow" title={`You have ${credits(have)} credits, and this needs ${credits(need)}`}>
      <Stack gap="sm">
        <Text size="sm">
          Planning costs nothing. To submit, get credits:{' '}
          <Anchor component={Link} href="/machines?lend=1" inherit>
            lend a machine
          </Anchor>{' '}
          and earn them, or ask whoever runs this market.
        </Text>
        <AskCredits amount={toAskFor(need, have)} />
      </Stack>
    </Alert>
  );
}
