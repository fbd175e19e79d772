import { Button, Group } from '@mantine/core';
import { change as send, useChange } from '../../api/queries';
import { ConfirmButton } from '../../parts/confirm-button';
import type { Offer } from './offers';

export function OfferActions({ offer }: { offer: Offer }) {
  const path = { path: { id: offer.id } };
  const pause = useChange(() => send('post', '/v1/offers/{id}/pause', { ...path, body: { for: '1h' } }), {
    said: 'Paused for an hour. Jobs that use it get notice.',
  });
  const resume = useChange(() => send('post', '/v1/offers/{id}/resume', path), { said: 'Resumed.' });
  const drain = useChange(() => send('post', '/v1/offers/{id}/drain', path), {
    said: 'Draining: current leases run to their end, and no new ones begin.',
  });
  const remove = useChange(() => send('delete', '/v1/offers/{id}', path), { said: 'The offer is removed.' });
  return (
    <Group gap="xs">
      {offer.state === 'paused' ? (
        <Button size="xs" onClick={() => resume.mutate()} loading={resume.isPending}>
          Resume
        </Button>
      ) : (
        <Button size="xs" variant="default" onClick={() => pause.mutate()} loading={pause.isPending} disabled={offer.state === 'draining'}>
          Pause for an hour
        </Button>
      )}
      <ConfirmButton
        size="xs"
        label="Drain"
        question="Current leases run to the end of their terms, and no new ones begin. A drained offer does not open again: remove it and make a new one."
        confirm="Drain it"
        disabled={offer.state === 'draining'}
        onConfirm={() => drain.mutate()}
      />
      <ConfirmButton
        size="xs"
        label="Remove"
        question="Remove this offer? The machine stays; its agent makes a new offer when it starts again."
        confirm="Remove it"
        onConfirm={() => remove.mutate()}
      />
    </Group>
  );
}
