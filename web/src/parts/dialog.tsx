import { Group, Modal } from '@mantine/core';
import type { ReactNode } from 'react';

// A dialog. Its heading is no <header>, which would be a second banner of the page.
export function Dialog({
  opened, onClose, title, children,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
}) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size="lg">
      <Modal.Overlay />
      <Modal.Content>
        <Group justify="space-between" px="md" pt="md" pb="xs" wrap="nowrap">
          <Modal.Title fw={650} fz="lg">
            {title}
          </Modal.Title>
          <Modal.CloseButton aria-label="close" />
        </Group>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
