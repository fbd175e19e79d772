import { ActionIcon, Group, Paper, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useRef, useState } from 'react';

// The clipboard API exists only on https and localhost; elsewhere the old way still works.
async function copy(text: string, from: HTMLElement | null): Promise<boolean> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  if (!from) return false;
  const range = document.createRange();
  range.selectNodeContents(from);
  const selection = window.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
  return document.execCommand('copy');
}

// A line to paste elsewhere.
export function CopyLine({ text, label }: { text: string; label: string }) {
  const code = useRef<HTMLElement>(null);
  const [copied, setCopied] = useState(false);
  const onClick = () =>
    void copy(text, code.current).then((done) => {
      setCopied(done);
      window.setTimeout(() => setCopied(false), 2_000);
    });
  return (
    <Paper withBorder p="xs">
      <Group wrap="nowrap" gap="xs" align="flex-start">
        <code
          ref={code}
          style={{ flex: 1, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', fontSize: 13 }}
        >
          {text}
        </code>
        <Tooltip label={copied ? 'copied' : 'copy'}>
          <ActionIcon variant="subtle" aria-label={`copy ${label}`} onClick={onClick}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      </Group>
    </Paper>
  );
}
