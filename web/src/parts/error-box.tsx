import { Alert, Button, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiError } from '../api/client';

// What went wrong, and what to do about it.
export function ErrorBox({ error, retry }: { error: unknown; retry?: () => void }) {
  const known = error instanceof ApiError ? error : new ApiError(0, String(error));
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={known.message} role="alert">
      {known.hint && <Text size="sm">{known.hint}</Text>}
      {retry && (
        <Button mt="xs" size="xs" variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}
