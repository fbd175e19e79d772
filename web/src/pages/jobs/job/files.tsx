import { Anchor, Button, Table, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { memo } from 'react';
import type { Schemas } from '../../../api/client';
import { bytes, count } from '../../../format';
import { CopyLine } from '../../../parts/copy-line';
import { Empty } from '../../../parts/empty';
import { Panel } from '../../../parts/panel';
import { WideTable } from '../../../parts/wide-table';
import { aboutFile, fileUrl, inOrder, modelOf, type ResultFile } from './results';
import { trains } from '../kinds';

const kShown = 300;
const kWhole = 12; // Rows; more of them scroll.
const kMostBytes = 256 * 1024 ** 2; // What the server sends at once.

export function DownloadModel({ job, files }: { job: string; files: ResultFile[] }) {
  const model = modelOf(files);
  if (!model) return null;
  return (
    <Button
      component="a"
      href={fileUrl(job, model)}
      download
      leftSection={<IconDownload size={18} aria-hidden />}
    >
      Download the model
    </Button>
  );
}

function Row({ job, file, parts }: { job: string; file: ResultFile; parts: boolean }) {
  return (
    <Table.Tr>
      {parts && <Table.Td>{file.part ?? 'the job'}</Table.Td>}
      <Table.Td>
        {file.bytes <= kMostBytes ? (
          <Anchor href={fileUrl(job, file)} download>
            {file.path}
          </Anchor>
        ) : (
          `${file.path} (too large for the browser: souk results ${job})`
        )}
        <Text size="xs" c="dimmed">
          {aboutFile(file)}
        </Text>
      </Table.Td>
      <Table.Td ta="right">{bytes(file.bytes)}</Table.Td>
    </Table.Tr>
  );
}

// What the job left, to be saved one by one; all at once is for the command line.
export const Files = memo(function Files({
  job,
  files,
  gone,
}: {
  job: Schemas['Job'];
  files: ResultFile[];
  gone: string[];
}) {
  const sorted = inOrder(files);
  const parts = sorted.some((f) => f.part !== undefined);
  return (
    <Panel title="Files">
      {gone.map((text) => (
        <Text key={text} size="sm" c="dimmed">{`${text}.`}</Text>
      ))}
      {sorted.length === 0 ? (
        <Empty title={job.ended ? 'The job left no files' : 'No files so far'}>
          {job.ended
            ? ''
            : trains(job.kind)
              ? 'The model and its metrics appear here when the training ends, also when it fails or is cancelled.'
              : 'Files that match the outputs of the job appear here when a worker is done.'}
        </Empty>
      ) : (
        <>
          <WideTable minWidth={360} {...(sorted.length > kWhole ? { mah: 600 } : {})} mb="sm">
            <Table>
              <Table.Thead>
                <Table.Tr>
                  {parts && <Table.Th w={90}>Worker</Table.Th>}
                  <Table.Th>File</Table.Th>
                  <Table.Th ta="right" w={100}>
                    Size
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {sorted.slice(0, kShown).map((f) => (
                  <Row key={`${f.part ?? ''}/${f.path}`} job={job.id} file={f} parts={parts} />
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
          {sorted.length > kShown && (
            <Text
              size="xs"
              c="dimmed"
              mb="xs"
            >{`The first ${kShown} of ${count(sorted.length, 'file')}.`}</Text>
          )}
          <CopyLine text={`souk results ${job.id} -o ${job.id}`} label="the command that fetches all files" />
        </>
      )}
    </Panel>
  );
});
