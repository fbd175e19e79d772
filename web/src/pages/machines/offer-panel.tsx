import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { change as send, useChange } from '../../api/queries';
import { dateTime, timeZone } from '../../format';
import { Panel } from '../../parts/panel';
import { StateBadge } from '../../parts/state-badge';
import type { Machine } from './leases';
import { OfferActions } from './offer-actions';
import { type Draft, draftOf, editOf, type Offer, problemOf, type SlotClass, slotsThatFit } from './offers';
import { Terms } from './terms';

type Props = { offer: Offer; machine: Machine; offers: Offer[]; classes: SlotClass[] };

// When the offer is open, as the market sees it now.
function standing(offer: Offer): string {
  if (offer.state === 'paused') return offer.paused_until ? `until ${dateTime(offer.paused_until)}` : 'until you resume it';
  if (offer.opens) return `opens ${dateTime(offer.opens)}`;
  if (offer.closes) return `closes ${dateTime(offer.closes)}`;
  return '';
}

export function OfferPanel({ offer, machine, offers, classes }: Props) {
  const [edited, setEdited] = useState<Draft>();
  // Until something is edited, what the market says is shown, and follows it.
  const draft = edited ?? draftOf(offer, timeZone);
  const change = (more: Partial<Draft>) => setEdited((now) => ({ ...(now ?? draft), ...more }));
  const edit = edited && editOf(offer, edited, timeZone);
  const problem = problemOf(draft);
  const save = useChange(
    (body: NonNullable<typeof edit>) => send('patch', '/v1/offers/{id}', { path: { id: offer.id }, body }),
    { said: 'Saved.', done: () => setEdited(undefined) },
  );
  const of = classes.find((c) => c.name === offer.class);
  const others = offers.filter((o) => o.machine === machine.id && o.id !== offer.id);
  return (
    <Panel title={`Offer ${offer.id}`} actions={<OfferActions offer={offer} />}>
      <Group gap="xs" mb="md" mih={24}>
        <StateBadge state={offer.state} />
        <Text size="sm" c="dimmed">
          {standing(offer)}
        </Text>
        <Text size="sm">
          {offer.slots - offer.free} of {offer.slots} slots leased
        </Text>
      </Group>
      {of && (
        <Terms of={of} machine={machine} most={slotsThatFit(of, machine.spec, others, classes)} draft={draft} change={change} />
      )}
      {draft.ends && (
        <Group gap="xs" mt="sm">
          <Text size="sm">
            {offer.from && `Begins ${dateTime(offer.from)}. `}
            {offer.until && `Ends ${dateTime(offer.until)}.`}
          </Text>
          <Button size="compact-xs" variant="subtle" onClick={() => change({ ends: false })}>
            Remove the end date
          </Button>
        </Group>
      )}
      <Group
        mt="lg"
        py="xs"
        gap="xs"
        bg="var(--mantine-color-body)"
        // In reach while something is not saved, however tall the calendar is.
        style={edited ? { position: 'sticky', bottom: 0, zIndex: 5 } : {}}
      >
        <Button disabled={!edit || problem !== undefined} loading={save.isPending} onClick={() => edit && save.mutate(edit)}>
          Save changes
        </Button>
        <Button variant="default" disabled={!edited} onClick={() => setEdited(undefined)}>
          Discard
        </Button>
        <Text size="sm" c={problem ? 'red' : 'dimmed'} role="status">
          {problem ?? (edit ? 'Not saved yet.' : '')}
        </Text>
      </Group>
    </Panel>
  );
}
