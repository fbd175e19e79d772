import { Button } from '@mantine/core';
import { IconCopy, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { Schemas } from '../../../api/client';
import { change, useChange } from '../../../api/queries';
import { credits } from '../../../format';
import { ConfirmButton } from '../../../parts/confirm-button';

// What can be done with a job as a whole.
export function Actions({ job }: { job: Schemas['Job'] }) {
  const path = { id: job.id };
  const pause = useChange(() => change('post', '/v1/jobs/{id}/pause', { path }), { said: 'Paused.' });
  const resume = useChange(() => change('post', '/v1/jobs/{id}/resume', { path }), {
    said: 'Resumed. It bids again in the next round.',
  });
  const cancel = useChange(
    () => change('post', '/v1/jobs/{id}/cancel', { path, body: { reason: 'cancelled in the console' } }),
    { said: 'Cancelled. Credits that were not spent are back in your account.' },
  );
  const live = !job.ended;
  return (
    <>
      {live && job.state !== 'paused' && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          loading={pause.isPending}
          onClick={() => pause.mutate()}
        >
          Pause
        </Button>
      )}
      {live && job.state === 'paused' && (
        <Button
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={resume.isPending}
          onClick={() => resume.mutate()}
        >
          Resume
        </Button>
      )}
      {live && (
        <ConfirmButton
          label="Cancel"
          question={`End this job? Its workers stop at once, and ${credits(job.escrow)} credits come back. It cannot be resumed.`}
          confirm="Cancel the job"
          loading={cancel.isPending}
          onConfirm={() => cancel.mutate()}
        />
      )}
      <Button
        component={Link}
        href={`/jobs/new?from=${job.id}`}
        variant="default"
        leftSection={<IconCopy size={16} aria-hidden />}
      >
        Clone
      </Button>
    </>
  );
}
