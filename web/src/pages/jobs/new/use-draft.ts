import { useReducer } from 'react';
import type { Schemas } from '../../../api/client';
import { type Draft, noDraft, toYaml } from '../file/draft';
import { fromYaml } from '../file/draft-read';

// The job that is being described, as a form and as the text of a job file. Whichever is changed,
// the other follows; a text that the form cannot follow is used as it is.

export type Source = 'sample' | 'model' | 'own' | 'file' | 'clone';

export type DraftState = {
  source: Source;
  draft: Draft;
  text: string | null; // As somebody wrote it; null: as the form says it.
  unread: string; // Why the form does not follow the text; empty: it does.
  sample: string;
  demand: Partial<Draft>; // What it was opened for, whatever is picked.
};

export type DraftAction =
  | { do: 'edit'; change: Partial<Draft> }
  | { do: 'write'; text: string }
  | { do: 'sample'; sample: Schemas['Sample'] }
  | { do: 'source'; source: Source };

export const noState: DraftState = { source: 'sample', draft: noDraft, text: null, unread: '', sample: '', demand: {} };

// What a form begins with, so that little has to be filled in.
const kBeginnings: Partial<Record<Source, Partial<Draft>>> = {
  model: { kind: 'train', model: 'lenet', data: 'mnist', epochs: 10, least: 1, most: 4 },
  own: { kind: 'train', epochs: 10, least: 1, most: 4, packages: ['torch'] },
};

function read(state: DraftState, text: string): DraftState {
  const found = fromYaml(text);
  if ('error' in found) return { ...state, text, unread: found.error };
  return { ...state, text, unread: '', draft: found.draft };
}

// The draft with what the form was opened for.
function demanded(state: DraftState): DraftState {
  if (state.unread !== '' || Object.keys(state.demand).length === 0) return state;
  return { ...state, draft: { ...state.draft, ...state.demand }, text: null };
}

export function step(state: DraftState, action: DraftAction): DraftState {
  switch (action.do) {
    case 'edit':
      return { ...state, draft: { ...state.draft, ...action.change }, text: null, unread: '' };
    case 'write':
      return read({ ...state, source: 'file', sample: '' }, action.text);
    case 'sample':
      return demanded(read({ ...state, source: 'sample', sample: action.sample.name }, action.sample.yaml));
    case 'source': {
      if (action.source === state.source) return state;
      // Into a file goes what was there: to be edited by hand.
      if (action.source === 'file') return { ...state, source: 'file', text: yamlOf(state) };
      const begin = kBeginnings[action.source];
      const { demand } = state;
      return { ...noState, source: action.source, draft: { ...noDraft, ...begin, ...demand }, demand };
    }
  }
}

// Before a sample was picked there is no job yet.
export function yamlOf({ source, sample, text, draft }: DraftState): string {
  return text ?? (source === 'sample' && sample === '' ? '' : toYaml(draft));
}

// Does the file speak of files that have to be sent first?
export function needsFiles(d: Draft): boolean {
  return d.script !== '' || d.workdir !== '' || d.dataFiles.train.length > 0 || 'inputs' in d.rest;
}

// Samples that set aside least come first: to begin with.
export function cheapestFirst(samples: Schemas['Sample'][]): Schemas['Sample'][] {
  const cap = (text: string) => {
    const found = fromYaml(text);
    return 'error' in found || found.draft.budget === '' ? Infinity : found.draft.budget;
  };
  return samples
    .map((sample) => ({ sample, cap: cap(sample.yaml) }))
    .sort((a, b) => (a.cap === b.cap ? 0 : a.cap - b.cap))
    .map(({ sample }) => sample);
}

// `copy`: the form of a job that is to be made again.
export function useDraft(copy?: Draft, demand: Partial<Draft> = {}) {
  const [state, act] = useReducer(step, copy, (draft): DraftState =>
    draft ? { ...noState, source: 'clone', draft } : { ...noState, draft: { ...noDraft, ...demand }, demand },
  );
  return { state, act, yaml: yamlOf(state) };
}
