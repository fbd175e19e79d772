import type { Schemas } from '../../api/client';
import { trains } from './kinds';

export type Job = Schemas['Job'];

export type JobState = Schemas['JobState'];
export const kStates: JobState[] = ['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled', 'expired'];

export const hasEnded = (job: Pick<Job, 'ended'>): boolean => job.ended !== undefined;

// What is asked for: words that all occur in name, id or class, in any order.
export function matching(jobs: Job[], search: string): Job[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return jobs;
  return jobs.filter((job) => {
    const text = `${job.name} ${job.id} ${job.class} ${job.kind}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function countStates(jobs: Job[]): Map<JobState, number> {
  const out = new Map<JobState, number>();
  for (const job of jobs) out.set(job.state, (out.get(job.state) ?? 0) + 1);
  return out;
}

// How far a batch job is, by its finished workers; trainings say it themselves, and a job without a
// program has no end to come nearer to.
export function partsDone(job: Job): number | undefined {
  if (job.state === 'succeeded') return 1;
  if (trains(job.kind)) return undefined;
  return job.workers.max > 0 ? job.done / job.workers.max : undefined;
}

// Of the budget, 0 to 1.
export function spentShare(job: Pick<Job, 'spent' | 'budget'>): number {
  return job.budget > 0 ? Math.min(1, job.spent / job.budget) : 0;
}

export function workersText(job: Pick<Job, 'workers' | 'held' | 'ended'>): string {
  const { min, max } = job.workers;
  const wanted = min === max ? `${max}` : `${min} to ${max}`;
  return job.ended ? wanted : `${job.held} of ${wanted}`;
}
