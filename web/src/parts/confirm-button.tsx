import { Button, type ButtonProps, Group, Popover, Text } from '@mantine/core';
import { useState } from 'react';

type Props = ButtonProps & { label: string; question: string; confirm: string; onConfirm: () => void };

// A button for what cannot be undone: asks first, beside itself.
export function ConfirmButton({ label, question, confirm, onConfirm, ...rest }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <Popover opened={open} onChange={setOpen} withArrow trapFocus position="bottom-end">
      <Popover.Target>
        <Button variant="default" {...rest} onClick={() => setOpen(!open)}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw={300}>
        <Text size="sm" mb="sm">
          {question}
        </Text>
        <Group gap="xs">
          <Button
            size="xs"
            color="red"
            onClick={() => {
              setOpen(false);
              onConfirm();
            }}
          >
            {confirm}
          </Button>
          <Button size="xs" variant="default" onClick={() => setOpen(false)}>
            Keep it
          </Button>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
