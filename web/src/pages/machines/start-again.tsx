import { Alert, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useChange } from '../../api/queries';
import { Dialog } from '../../parts/dialog';
import { LendLine, tokenFor } from './lend-dialog';
import type { Machine } from './leases';

// A machine whose agent does not run: how to start it. A token is shown once, so a new one is made.
export function StartAgain({ machine, title }: { machine: Machine; title: string }) {
  const [open, setOpen] = useState(false);
  const make = useChange(() => tokenFor(machine), { done: () => setOpen(true) });
  return (
    <Alert color="yellow" title={title}>
      <Text size="sm">Run souk lend on that computer, as before; or with a new line.</Text>
      <Button size="xs" mt="xs" variant="default" loading={make.isPending} onClick={() => make.mutate()}>
        Make a new line to paste
      </Button>
      <Dialog opened={open} onClose={() => setOpen(false)} title={`Lend ${machine.name}`}>
        {make.data && <LendLine {...make.data} />}
      </Dialog>
    </Alert>
  );
}
