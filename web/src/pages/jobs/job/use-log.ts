import { useEffect, useRef, useState } from 'react';
import { ApiError, get, type Schemas } from '../../../api/client';
import { addText, type LogLines, noLines } from './log-lines';
import { addPiece, type Merged, noMerged } from './merged-log';

const kEvery = 1_000; // ms, while the program runs
const kAfterError = 3_000;
const kEach = 250; // ms between two questions, however many logs are followed.
export const kMostLogs = 24; // Followed together.

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer);
      resolve();
    });
  });

type Hears = { piece: (piece: Schemas['Log']) => void; error: (error: ApiError) => void };

// All that is there at once, then what comes, until the program has ended.
async function followLog(lease: string, every: number, signal: AbortSignal, hears: Hears): Promise<void> {
  let from = 0;
  while (!signal.aborted) {
    try {
      const piece = await get(
        '/v1/leases/{id}/log',
        { path: { id: lease }, query: from > 0 ? { from: String(from) } : {} },
        signal,
      );
      from = piece.next;
      hears.piece(piece);
      if (piece.ended) return;
      if (piece.text === '') await wait(every, signal);
    } catch (error) {
      if (signal.aborted) return;
      const known = error instanceof ApiError ? error : new ApiError(0, String(error));
      hears.error(known);
      // A log that is not there will not come; a market that is away will.
      if (known.status >= 400 && known.status < 500 && known.status !== 429) return;
      await wait(kAfterError, signal);
    }
  }
}

// `known`: an answer came.
export type LogState = { log: LogLines; known: boolean; ended: boolean; error?: ApiError };

// The log of one lease.
export function useLog(lease: string | undefined): LogState {
  const [state, setState] = useState<LogState>({ log: noLines, known: false, ended: false });
  useEffect(() => {
    setState({ log: noLines, known: false, ended: false });
    if (!lease) return;
    const stop = new AbortController();
    void followLog(lease, kEvery, stop.signal, {
      piece: ({ text, ended }) => setState(({ log }) => ({ log: addText(log, text), known: true, ended })),
      error: (error) => setState(({ log }) => ({ log, known: true, ended: false, error })),
    });
    return () => stop.abort();
  }, [lease]);
  return state;
}

export type MergedState = { log: Merged; known: boolean; running: Set<string>; error?: ApiError };

// The logs of several leases as one. One that joins is followed from then on; none is read twice.
export function useMergedLog(leases: string[]): MergedState {
  const [state, setState] = useState<MergedState>(() => ({ log: noMerged(), known: false, running: new Set() }));
  const followed = useRef(new Map<string, AbortController>());
  const wanted = leases.join(' ');
  useEffect(() => {
    const ids = wanted.split(' ').filter(Boolean);
    if (ids.length === 0 && followed.current.size > 0) {
      for (const stop of followed.current.values()) stop.abort();
      followed.current.clear();
      setState({ log: noMerged(), known: false, running: new Set() });
    }
    const every = Math.max(kEvery, kEach * ids.length);
    for (const lease of ids) {
      if (followed.current.has(lease)) continue;
      const stop = new AbortController();
      followed.current.set(lease, stop);
      setState((now) => ({ ...now, running: new Set(now.running).add(lease) }));
      const quiet = (running: Set<string>) => new Set([...running].filter((id) => id !== lease));
      void followLog(lease, every, stop.signal, {
        piece: ({ text, ended }) =>
          setState(({ log, running }) => ({
            log: addPiece(log, lease, text, ended),
            known: true,
            running: ended ? quiet(running) : running,
          })),
        error: (error) => setState((now) => ({ ...now, known: true, error })),
      });
    }
  }, [wanted]);
  useEffect(() => {
    const all = followed.current;
    return () => {
      for (const stop of all.values()) stop.abort();
      all.clear();
    };
  }, []);
  return state;
}
