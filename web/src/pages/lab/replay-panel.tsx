import { Button, Group, NumberInput, Select, SimpleGrid, Stack, TagsInput, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useState } from 'react';
import { change, useChange, useGet } from '../../api/queries';
import { Panel } from '../../parts/panel';

const kAll = 'all classes';

// What would have been: this market's own rounds under other mechanisms. For operators.
export function ReplayPanel({ show }: { show: (id: string) => void }) {
  const classes = useGet('/v1/classes', {});
  const rules = useGet('/v1/mechanisms', {});
  const [mechanisms, setMechanisms] = useState(['posted', 'mcafee']);
  const [name, setName] = useState(kAll);
  const [days, setDays] = useState<number | string>(7);
  const [shading, setShading] = useState<number | string>(10);
  const replay = useChange(
    () =>
      change('post', '/v1/lab/replays', {
        body: {
          mechanisms,
          ...(name === kAll ? {} : { class: name }),
          ...(Number(days) > 0 ? { days: Number(days) } : {}),
          shading: Number(shading) / 100,
        },
      }),
    { done: (made) => show(made.id) },
  );
  return (
    <Panel title="Replay this market’s history">
      <Stack gap="md">
        <Text size="sm">
          Before each round that happened, the bids and offers of that moment are cleared by every mechanism below; then
          history goes on as it did. So each answer is about one round.
        </Text>
        <TagsInput
          label="Mechanisms to try"
          description="Choose some, or write one with parameters: k-double:kappa=0.25"
          data={(rules.data?.items ?? []).filter((m) => m.properties.live).map((m) => m.name)}
          value={mechanisms}
          onChange={setMechanisms}
          splitChars={[',', ' ']}
          clearable
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }} style={{ alignItems: 'end' }}>
          <Select
            label="Slot class"
            data={[kAll, ...(classes.data?.items ?? []).map((c) => c.name)]}
            value={name}
            onChange={(chosen) => setName(chosen ?? kAll)}
            allowDeselect={false}
          />
          <NumberInput
            label="Days back"
            description="Empty: all of them."
            min={1}
            allowDecimal={false}
            value={days}
            onChange={setDays}
          />
          <NumberInput
            label="Shading"
            description="The share of their true value that people may have hidden."
            suffix="%"
            min={0}
            max={90}
            value={shading}
            onChange={setShading}
          />
        </SimpleGrid>
        <Group>
          <Button
            leftSection={<IconHistory size={16} />}
            disabled={mechanisms.length === 0}
            loading={replay.isPending}
            onClick={() => replay.mutate()}
          >
            Replay
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}
