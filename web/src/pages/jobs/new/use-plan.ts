import { useEffect, useRef, useState } from 'react';
import type { Schemas } from '../../../api/client';
import { change, useChange } from '../../../api/queries';
import { type NewJob } from './candidates';
import { measure } from './measure';

export type Planned = { of: string; job: NewJob; notes: string[]; plan: Schemas['JobPlan'] };

// Makes the job and its plan. `of` names what it was made from: when that changes, it is old.
export function usePlan(of: string, makeJob: () => Promise<{ job: NewJob; notes: string[] }>) {
  const [planned, setPlanned] = useState<Planned>();
  const [also, setAlso] = useState(''); // The same job with one of the plan's candidates picked.
  const [measuring, setMeasuring] = useState('');
  const stop = useRef<AbortController>();
  useEffect(() => () => stop.current?.abort(), []);
  const make = useChange(
    async () => {
      const { job, notes } = await makeJob();
      return { of, job, notes, plan: await change('post', '/v1/plan', { body: job }) };
    },
    {
      quiet: true,
      done: (made) => {
        setPlanned(made);
        setAlso(made.of);
      },
    },
  );
  const learn = useChange(
    async (job: NewJob) => {
      stop.current = new AbortController();
      try {
        await measure(job, stop.current.signal, setMeasuring);
      } finally {
        setMeasuring('');
      }
    },
    { done: () => make.mutate() },
  );
  return {
    planned,
    fresh: planned !== undefined && (planned.of === of || also === of),
    keepFor: setAlso,
    make: () => make.mutate(),
    making: make.isPending,
    error: make.error,
    learn: (job: NewJob) => learn.mutate(job),
    measuring: learn.isPending ? measuring || 'beginning' : '',
    stopMeasuring: () => stop.current?.abort(),
  };
}
