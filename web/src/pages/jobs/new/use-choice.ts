import { useEffect, useRef, useState } from 'react';
import { choiceEdit, choiceOf, type NewJob, withChoice } from './candidates';
import { chosenIn } from './plan';
import { type DraftAction, type DraftState, step, yamlOf } from './use-draft';
import type { usePlan } from './use-plan';

// Which candidate of the plan is picked. A pick is written into form and file, so that they say what
// is submitted; the plan stays, since it is one of its own lines that was picked.
export function useChoice(
  plan: ReturnType<typeof usePlan>,
  state: DraftState,
  act: (action: DraftAction) => void,
  inputs: (yaml: string) => string,
) {
  const { planned, fresh, keepFor } = plan;
  const [picked, setPicked] = useState<number>();
  const now = useRef(state.draft);
  now.current = state.draft;
  const asked = useRef(state.draft); // The form that the plan was made from.
  useEffect(() => {
    setPicked(choiceOf(planned));
    asked.current = now.current;
  }, [planned]);
  const pick = (at: number) => {
    setPicked(at);
    if (!planned || state.unread !== '') return;
    const change = choiceEdit(asked.current, planned.job, chosenIn(planned, at));
    keepFor(inputs(yamlOf(step(state, { do: 'edit', change }))));
    act({ do: 'edit', change });
  };
  const job: NewJob | undefined =
    fresh && planned ? withChoice(planned.job, chosenIn(planned, picked)) : undefined;
  // A file that the form does not follow cannot be changed from here.
  const differs = state.unread !== '' && job !== undefined && job.workers?.max !== planned?.job.workers?.max;
  return { picked, pick, job, beside: differs ? `workers: ${job.workers?.min}..${job.workers?.max}` : '' };
}
