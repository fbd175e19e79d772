import { Button, Group, Text } from '@mantine/core';
import { IconDownload, IconExternalLink } from '@tabler/icons-react';
import { useState } from 'react';
import { type Schemas, urlOf } from '../../api/client';
import { CopyLine } from '../../parts/copy-line';
import { download } from '../../parts/download';
import { Panel } from '../../parts/panel';

type Props = { id: string; summary: Schemas['Summary']; scenario: string | undefined };

// "souk lab run smith.yaml ...": the file that the command names.
export const fileOf = (command: string): string => /^souk lab run (\S+)/.exec(command)?.[1] ?? 'scenario.yaml';

// The report, and what other programs read.
export function Files({ id, summary, scenario }: Props) {
  const [open, setOpen] = useState(false);
  const report = urlOf('/v1/lab/runs/{id}/report', { path: { id } });
  const trades = urlOf('/v1/lab/runs/{id}/trades', { path: { id } });
  return (
    <Panel title="Report and files">
      <Group gap="xs" mb="sm">
        <Button variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide the report' : 'Show the report'}
        </Button>
        <Button
          variant="default"
          component="a"
          href={report}
          target="_blank"
          rel="noreferrer"
          leftSection={<IconExternalLink size={16} />}
        >
          Open the report in a new tab
        </Button>
        <Button variant="default" component="a" href={trades} download leftSection={<IconDownload size={16} />}>
          Download trades (CSV)
        </Button>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          onClick={() =>
            download(`${summary.scenario}-summary.json`, `${JSON.stringify(summary, null, 2)}\n`, 'application/json')
          }
        >
          Download summary (JSON)
        </Button>
      </Group>
      {open && (
        <iframe
          title="report of the run"
          src={report}
          sandbox=""
          style={{ width: '100%', height: '80vh', border: '1px solid var(--mantine-color-default-border)', borderRadius: 8 }}
        />
      )}
      <Text size="sm" mb={4}>
        To get the same numbers on your computer, save the scenario and run this beside it:
      </Text>
      {scenario !== undefined && (
        <Button
          size="xs"
          variant="default"
          mb="xs"
          leftSection={<IconDownload size={14} />}
          onClick={() => download(fileOf(summary.reproduce), scenario, 'text/yaml')}
        >
          {`Save ${fileOf(summary.reproduce)}`}
        </Button>
      )}
      <CopyLine text={summary.reproduce} label="how to reproduce it" />
    </Panel>
  );
}
