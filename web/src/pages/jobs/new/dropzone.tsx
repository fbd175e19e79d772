import { Button, Group, Progress, Text } from '@mantine/core';
import { IconFolderUp } from '@tabler/icons-react';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import { bytes, count, percent } from '../../../format';
import classes from './dropzone.module.css';
import { fromDrop, fromInput } from './upload/folder';
import type { UploadState } from './upload/upload';
import type { Sending, useUpload } from './use-upload';

const kPhases = { reading: 'Reading', sending: 'Uploading', done: 'Uploaded' } as const;

function HowFar({ state }: { state: UploadState }) {
  const share = state.total > 0 ? state.done / state.total : 1;
  return (
    <div style={{ width: '100%' }}>
      <Text size="sm" role="status">
        {`${kPhases[state.phase]}: ${bytes(state.done)} of ${bytes(state.total)} (${percent(share)})`}
        {state.trouble && `. Interrupted: ${state.trouble}. Trying again by itself.`}
      </Text>
      <Progress
        value={100 * share}
        color={state.trouble ? 'yellow' : 'souk'}
        striped={state.phase === 'reading'}
        aria-label="upload"
        mt={4}
      />
    </div>
  );
}

function About({ sending }: { sending: Sending }) {
  const { folder } = sending;
  if (!folder) return null;
  return (
    <Text size="sm">
      <b>{folder.name}</b>: {count(folder.items.length, 'file')}, {bytes(folder.bytes)}
      {folder.leftOut > 0 && `; ${count(folder.leftOut, 'file')} left out by .soukignore`}
    </Text>
  );
}

type Props = Pick<ReturnType<typeof useUpload>, 'sending' | 'run' | 'cancel'>;

// Where a folder is dropped or chosen. It is sent at once; after an interruption, choosing it again
// sends only what is missing.
export function Dropzone({ sending, run, cancel }: Props) {
  const [over, setOver] = useState(false);
  const folderInput = useRef<HTMLInputElement>(null);
  const filesInput = useRef<HTMLInputElement>(null);
  // Not an attribute that React knows.
  useEffect(() => folderInput.current?.setAttribute('webkitdirectory', ''), []);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const entries = [...event.dataTransfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
    if (entries.length > 0) void run(() => fromDrop(entries));
  };
  const chosen = (input: HTMLInputElement) => {
    const files = [...(input.files ?? [])];
    input.value = '';
    if (files.length > 0) void run(() => Promise.resolve(fromInput(files)));
  };
  return (
    <div
      className={`${classes.zone} ${over ? classes.over : ''}`}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <IconFolderUp size={32} aria-hidden />
      {sending.folder ? (
        <About sending={sending} />
      ) : (
        <Text size="sm">Drop a folder here, with your script and the files it needs.</Text>
      )}
      {sending.state && <HowFar state={sending.state} />}
      {sending.error && (
        <Text size="sm" c="red" role="alert">
          {sending.error}
        </Text>
      )}
      <Group gap="xs" justify="center">
        <Button size="xs" variant="default" onClick={() => folderInput.current?.click()}>
          {sending.folder ? 'Choose another folder' : 'Choose a folder'}
        </Button>
        <Button size="xs" variant="default" onClick={() => filesInput.current?.click()}>
          Choose files
        </Button>
        {sending.busy && (
          <Button size="xs" variant="subtle" onClick={cancel}>
            Stop the upload
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        Lenders can read what you send, so send nothing secret. List files to leave out in .soukignore.
      </Text>
      <input
        ref={folderInput}
        type="file"
        multiple
        className={classes.input}
        aria-label="Folder to send"
        onChange={(e) => chosen(e.currentTarget)}
      />
      <input
        ref={filesInput}
        type="file"
        multiple
        className={classes.input}
        aria-label="Files to send"
        onChange={(e) => chosen(e.currentTarget)}
      />
    </div>
  );
}
