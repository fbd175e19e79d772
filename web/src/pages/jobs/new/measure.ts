import { change, get } from '../../../api/client';
import type { Schemas } from '../../../api/client';
import { seconds } from '../../../format';

// Runs a training on one worker for a minute at most, so that the market learns its pace: as
// `souk plan --measure` does.

type NewJob = Schemas['NewJob'];
type Training = Schemas['Training'];

const kUnits = 5; // Enough,
const kTime = 15; // s, in so long;
const kLongest = 60; // s, of training,
const kLongestWait = 600; // s, and of waiting for a machine.
const kToLearn = 10; // s
const kEvery = 500; // ms

export function isMeasured(t: Training): boolean {
  const elapsed = seconds(t.elapsed);
  const units = (t.by_worker ?? []).reduce((sum, w) => sum + w.units, 0);
  return t.state === 'finished' || elapsed >= kLongest || (units >= kUnits && elapsed >= kTime);
}

// One worker, one pass at most: it is the pace that counts.
export function measuredJob(job: NewJob): NewJob {
  const { deadline: _, ...rest } = job;
  const train = job.batch?.train;
  const name = `profile of ${job.name || 'a job'}`.slice(0, 40);
  if (!job.batch || !train) return { ...rest, name, workers: { min: 1, max: 1 } };
  const { target: __, ...endless } = train;
  return {
    ...rest,
    name,
    workers: { min: 1, max: 1 },
    batch: { ...job.batch, train: { ...endless, epochs: 1, measure: true } },
  };
}

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

async function follow(id: string, signal: AbortSignal, tell: (text: string) => void) {
  for (const start = Date.now(); Date.now() - start < kLongestWait * 1000; await wait(kEvery, signal)) {
    signal.throwIfAborted();
    const job = await get('/v1/jobs/{id}', { path: { id } }, signal);
    if (job.ended) return;
    const training = await get('/v1/jobs/{id}/training', { path: { id } }, signal);
    if (isMeasured(training)) return;
    const elapsed = seconds(training.elapsed);
    tell(
      elapsed > 0
        ? `measuring for ${Math.round(elapsed)} s`
        : job.held > 0
          ? 'a machine prepares'
          : 'waiting for a machine',
    );
  }
  throw new Error('no machine was free to measure the job on');
}

// Ends the job that measures in any case: nobody pays for a forgotten one.
export async function measure(job: NewJob, signal: AbortSignal, tell: (text: string) => void): Promise<void> {
  const made = await change('post', '/v1/jobs', { body: measuredJob(job) });
  const path = { id: made.id };
  tell('waiting for a machine');
  try {
    await follow(made.id, signal, tell);
  } finally {
    const now = await get('/v1/jobs/{id}', { path });
    if (!now.ended)
      await change('post', '/v1/jobs/{id}/cancel', { path, body: { reason: 'it was measured' } });
  }
  // The market learns from it once its worker has left.
  tell('the market learns from it');
  for (const start = Date.now(); Date.now() - start < kToLearn * 1000; await wait(kEvery, signal)) {
    const plan = await change('post', '/v1/plan', { body: job });
    if (plan.profiled) return;
  }
  throw new Error(`job ${made.id} ended before its speed could be measured: its log says why`);
}
