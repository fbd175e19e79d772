import { Alert, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Schemas } from '../../api/client';
import { change, useChange, useGet } from '../../api/queries';
import { duration, seconds } from '../../format';
import { ConfirmButton } from '../../parts/confirm-button';
import { described, given } from '../../parts/mechanism-words';
import { Loaded } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { type Rule, switched, withTrial } from './class';
import { RecordsPanel } from './records-panel';
import { RuleForm } from './rule-form';

type SlotClass = Schemas['SlotClass'];
type Props = { slotClass: SlotClass; mechanisms: Schemas['Mechanisms'] };

const spell = (rule: Rule) => described(rule.mechanism, given(rule.params));

function Switch({ slotClass: c, mechanisms }: Props) {
  const [rule, setRule] = useState<Rule>({ mechanism: c.mechanism, params: c.params ?? {} });
  const next = { mechanism: rule.mechanism, params: given(rule.params) };
  const same = spell(next) === described(c.mechanism, c.params);
  const send = useChange(
    () => change('put', '/v1/classes/{name}', { path: { name: c.name }, body: switched(c, next) }),
    { said: `${c.name} is cleared by ${spell(next)} from the next round on.` },
  );
  return (
    <Panel title={`Mechanism of ${c.name}`}>
      <Stack gap="sm">
        <Text size="sm">
          In force now: <strong>{described(c.in_force, c.in_force === c.mechanism ? c.params : c.trial?.params)}</strong>.
        </Text>
        <RuleForm label="Mechanism" mechanisms={mechanisms} value={rule} onChange={setRule} />
        <Group>
          <ConfirmButton
            label="Switch the mechanism"
            variant="filled"
            disabled={same}
            loading={send.isPending}
            question={
              `Clear ${c.name} by ${spell(next)} from the next round on? ` +
              'Leases that run keep their price until their term ends.'
            }
            confirm={`Switch ${c.name}`}
            onConfirm={() => send.mutate()}
          />
          {same && (
            <Text size="xs" c="dimmed">
              It is set already.
            </Text>
          )}
        </Group>
      </Stack>
    </Panel>
  );
}

function Trial({ slotClass: c, mechanisms }: Props) {
  const other = mechanisms.items?.find((m) => m.name !== c.mechanism)?.name ?? 'posted';
  const [rule, setRule] = useState<Rule>(
    c.trial ? { mechanism: c.trial.mechanism, params: c.trial.params ?? {} } : { mechanism: other, params: {} },
  );
  const [slice, setSlice] = useState(c.trial?.slice ?? '1h');
  const next = { mechanism: rule.mechanism, params: given(rule.params), slice };
  const put = (trial: typeof next | undefined) =>
    change('put', '/v1/classes/{name}', { path: { name: c.name }, body: withTrial(c, trial) });
  const start = useChange(() => put(next), { said: 'The trial is on.' });
  const stop = useChange(() => put(undefined), { said: 'The trial has ended.' });
  return (
    <Panel title="A/B trial">
      <Stack gap="sm">
        {c.trial ? (
          <Alert color="blue" title="A trial is on">
            {described(c.mechanism, c.params)} and {described(c.trial.mechanism, c.trial.params)} take turns,{' '}
            {duration(seconds(c.trial.slice))} each.
          </Alert>
        ) : (
          <Text size="sm">
            Two mechanisms take turns, a slice of time each, so that what they do can be compared below.
          </Text>
        )}
        <RuleForm label="Mechanism on trial" mechanisms={mechanisms} value={rule} onChange={setRule} />
        <TextInput
          label="Slice"
          description="The time of each turn, 1 minute to 366 days."
          error={Number.isNaN(seconds(slice)) && 'Write it as 1h or 30m.'}
          value={slice}
          onChange={(e) => setSlice(e.currentTarget.value)}
          maw={320}
        />
        <Group gap="xs">
          <ConfirmButton
            label={c.trial ? 'Change the trial' : 'Start the trial'}
            disabled={Number.isNaN(seconds(slice))}
            loading={start.isPending}
            question={`Let ${described(c.mechanism, c.params)} and ${spell(next)} take turns of ${slice} in ${c.name}?`}
            confirm={c.trial ? `Change it in ${c.name}` : `Start it in ${c.name}`}
            onConfirm={() => start.mutate()}
          />
          {c.trial && (
            <ConfirmButton
              label="End the trial"
              loading={stop.isPending}
              question={`Only ${described(c.mechanism, c.params)} clears ${c.name} then. Records are kept.`}
              confirm={`End it in ${c.name}`}
              onConfirm={() => stop.mutate()}
            />
          )}
        </Group>
      </Stack>
    </Panel>
  );
}

// Which mechanism clears a class, two in turn, and what they did.
export function Mechanisms() {
  const classes = useGet('/v1/classes', {});
  const mechanisms = useGet('/v1/mechanisms', {});
  const [search, setSearch] = useSearchParams();
  return (
    <Loaded query={classes} height={500}>
      {({ items = [] }) => {
        const chosen = items.find((c) => c.name === search.get('class')) ?? items[0];
        return (
          <Stack gap="lg">
            <Select
              label="Slot class"
              data={items.map((c) => c.name)}
              value={chosen?.name ?? null}
              onChange={(name) => name && setSearch({ tab: 'mechanisms', class: name }, { replace: true })}
              allowDeselect={false}
              maw={320}
            />
            {chosen && (
              <Loaded query={mechanisms} height={420}>
                {(all) => (
                  <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" key={chosen.name}>
                    <Switch slotClass={chosen} mechanisms={all} />
                    <Trial slotClass={chosen} mechanisms={all} />
                  </SimpleGrid>
                )}
              </Loaded>
            )}
            {chosen && <RecordsPanel name={chosen.name} />}
          </Stack>
        );
      }}
    </Loaded>
  );
}
