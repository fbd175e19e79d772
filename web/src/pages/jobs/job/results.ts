import type { Schemas } from '../../../api/client';
import { urlOf } from '../../../api/client';

// The files a job left.

export type ResultFile = Schemas['ResultFile'];

export function fileUrl(job: string, file: Pick<ResultFile, 'path' | 'part'>): string {
  return urlOf('/v1/jobs/{id}/file', { path: { id: job }, query: { path: file.path, part: file.part } });
}

// The trained model, if it is there.
export function modelOf(files: ResultFile[]): ResultFile | undefined {
  return files.find((f) => f.part === undefined && f.path === 'model.safetensors');
}

const kAbout: Record<string, string> = {
  'model.safetensors': 'the trained parameters',
  'trainer.json': 'what the model is, for souk predict',
  'metrics.csv': 'loss and metrics of each epoch, for a spreadsheet',
  'metrics.json': 'loss, metrics and workers of each epoch',
  'curve.svg': 'the metric of each check, as a picture',
  'events.tfevents': 'the same for TensorBoard',
};

export const aboutFile = (file: ResultFile): string =>
  file.part === undefined ? (kAbout[file.path] ?? '') : '';

// The model first, then the job's own files, then those of workers.
export function inOrder(files: ResultFile[]): ResultFile[] {
  const rank = (f: ResultFile) =>
    f.part === undefined ? (f.path === 'model.safetensors' ? -2 : -1) : f.part;
  return [...files].sort((a, b) => rank(a) - rank(b) || a.path.localeCompare(b.path));
}
