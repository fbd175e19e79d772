import { Button, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { count } from '../../format';
import type { Condition, Filter } from './filter';

const kNames: Record<keyof Filter, string> = {
  gpu: 'the GPU', vram: 'the GPU memory', cores: 'the cores', memory: 'the memory', speed: 'the speed',
  price: 'the price', packages: 'the environment', region: 'the region', proven: '“with a history”',
  all: '“free now”',
};

function sentence(key: keyof Filter, offers: number, only: number): string {
  const name = kNames[key].replace(/[a-z]/, (c) => c.toUpperCase());
  const more = only > 0 ? `; without it ${only} more would match` : ', and so do other conditions';
  return `${name} leaves out ${count(offers, 'offer')}${more}.`;
}

type Props = {
  page: Schemas['OfferPage'];
  conditions: Condition[];
  drop: (key: keyof Filter) => void;
};

// What the filter leaves out, and which part of it does.
export function WhyThese({ page, conditions, drop }: Props) {
  const shown = page.items?.length ?? 0;
  const causes = (page.left_out ?? []).flatMap((out, i) => {
    const key = conditions[i]?.key;
    return key !== undefined && out.offers > 0 ? [{ ...out, key }] : [];
  });
  return (
    <Stack gap={6} mb="sm">
      <Text size="sm" role="status">
        {`${shown} of ${count(page.looked_at, 'offer')} ${shown === 1 ? 'matches' : 'match'}.`}
        {page.next !== undefined && ' More do; these are the newest. Narrow the filter to see the others.'}
      </Text>
      {causes.map(({ key, offers, only }) => (
        <Group key={key} gap="xs">
          <Text size="sm" c="dimmed">
            {sentence(key, offers, only)}
          </Text>
          {only > 0 && (
            <Button size="compact-xs" variant="light" aria-label={`Drop it: ${kNames[key]}`} onClick={() => drop(key)}>
              Drop it
            </Button>
          )}
        </Group>
      ))}
    </Stack>
  );
}
