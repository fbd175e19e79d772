import { Button, Group, Text, Textarea } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { Panel } from '../../../parts/panel';

type Props = {
  yaml: string;
  unread: string;
  readOnly: boolean;
  onWrite: (text: string) => void;
  about?: string;
};

// The same job as a file, all along: to copy, to keep, or to edit.
export function YamlPane({ yaml, unread, readOnly, onWrite, about }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    // The clipboard API exists only on https and localhost; elsewhere the old way still works.
    if (navigator.clipboard) await navigator.clipboard.writeText(yaml);
    else {
      area.current?.select();
      document.execCommand('copy');
    }
    setCopied(true);
    window.setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Panel
      title="Job file"
      actions={
        <Button
          size="compact-sm"
          variant="default"
          leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          onClick={() => void copy()}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      }
    >
      <Textarea
        ref={area}
        label="Job file (YAML)"
        value={yaml}
        readOnly={readOnly}
        onChange={(e) => onWrite(e.currentTarget.value)}
        autosize
        minRows={12}
        maxRows={28}
        spellCheck={false}
        styles={{
          input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 },
        }}
        placeholder={'kind: train\nmodel: lenet\ndata: mnist'}
        error={unread}
      />
      <Group mt="xs">
        <Text size="xs" c="dimmed">
          {about ?? (
            <>
              For the command line: save it as job.yaml, then <code>souk run job.yaml</code>.
            </>
          )}
        </Text>
      </Group>
    </Panel>
  );
}
