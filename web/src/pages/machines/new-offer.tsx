import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { change as send, useChange } from '../../api/queries';
import { timeZone } from '../../format';
import { Panel } from '../../parts/panel';
import { ClassSelect } from './class-select';
import type { Machine } from './leases';
import { type Draft, newOffer, type Offer, problemOf, type SlotClass, slotsThatFit, usualClass } from './offers';
import { Terms } from './terms';

type Props = { machine: Machine; offers: Offer[]; classes: SlotClass[] };

export function NewOfferPanel({ machine, offers, classes }: Props) {
  const mine = offers.filter((o) => o.machine === machine.id);
  const [chosen, setChosen] = useState<string>();
  const of = classes.find((c) => c.name === chosen) ?? usualClass(machine.spec, mine, classes);
  const most = of ? slotsThatFit(of, machine.spec, mine, classes) : 0;
  const [edited, setEdited] = useState<Partial<Draft>>({});
  const draft: Draft = {
    slots: most, price: '', market: true, always: true, ends: false,
    windows: { zone: timeZone, spans: [], others: [] }, ...edited,
  };
  const problem = problemOf(draft);
  const post = useChange(
    () => send('post', '/v1/offers', { body: newOffer(machine.id, of?.name ?? '', draft) }),
    { said: 'Offered.' },
  );
  if (!of)
    return (
      <Panel title="Offer slots">
        <Alert color="yellow">No slot of any class fits this machine beside its other offers.</Alert>
      </Panel>
    );
  return (
    <Panel title={mine.length > 0 ? 'Offer the rest too' : 'Offer slots'}>
      <ClassSelect
        machine={machine}
        offers={mine}
        classes={classes}
        value={of.name}
        onChange={(name) => {
          setChosen(name);
          setEdited(({ slots: _, ...rest }) => rest);
        }}
      />
      <Terms of={of} machine={machine} most={most} draft={draft} change={(more) => setEdited((now) => ({ ...now, ...more }))} />
      <Group mt="lg" gap="xs">
        <Button disabled={problem !== undefined} loading={post.isPending} onClick={() => post.mutate()}>
          Offer them
        </Button>
        {problem && <Text size="sm" c="red">{problem}</Text>}
      </Group>
    </Panel>
  );
}
