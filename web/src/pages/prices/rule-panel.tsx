import { Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { duration, seconds } from '../../format';
import { MechanismAbout } from '../../parts/mechanism-about';
import { described } from '../../parts/mechanism-words';
import { Panel } from '../../parts/panel';

// How prices of a class come about.
export function RulePanel({
  slotClass: c,
  mechanism,
}: {
  slotClass: Schemas['SlotClass'];
  mechanism: Schemas['Mechanism'] | undefined;
}) {
  const params = c.in_force === c.mechanism ? c.params : c.trial?.params;
  return (
    <Panel title="How the price is set">
      <Text size="sm" mb="xs">
        Every few seconds a round matches jobs that want slots with offers that have them. The mechanism in force is{' '}
        <strong>{described(c.in_force, params)}</strong>.
      </Text>
      {c.trial && (
        <Text size="sm" mb="xs">
          A trial is on: {c.mechanism} and {c.trial.mechanism} take turns, {duration(seconds(c.trial.slice))} each.
        </Text>
      )}
      {mechanism ? (
        <MechanismAbout mechanism={mechanism} />
      ) : (
        <Text size="sm">A program of the operator’s decides; when it fails, its fallback does.</Text>
      )}
      <Text size="xs" c="dimmed" mt="sm">
        A lease keeps its price for its term. The suggested price is the mean of what was paid at this hour, raised
        when more than 70% of the supply is expected to be in use and lowered when less is.
      </Text>
    </Panel>
  );
}
