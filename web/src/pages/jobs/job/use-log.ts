import { useEffect, useState } from 'react';
import { ApiError, get } from '../../../api/client';
import { addText, type LogLines, noLines } from './log-lines';

const kEvery = 1_000; // ms, while the program runs
const kAfterError = 3_000;

export type LogState = { log: LogLines; ended: boolean; error?: ApiError };

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer);
      resolve();
    });
  });

// The log of one lease: all that is there at once, then what comes.
export function useLog(lease: string | undefined): LogState {
  const [state, setState] = useState<LogState>({ log: noLines, ended: false });
  useEffect(() => {
    setState({ log: noLines, ended: false });
    if (!lease) return;
    const stop = new AbortController();
    const { signal } = stop;
    const follow = async () => {
      let from = 0;
      while (!signal.aborted) {
        try {
          const piece = await get(
            '/v1/leases/{id}/log',
            { path: { id: lease }, query: from > 0 ? { from: String(from) } : {} },
            signal,
          );
          from = piece.next;
          setState(({ log }) => ({ log: addText(log, piece.text), ended: piece.ended }));
          if (piece.ended) return;
          if (piece.text === '') await wait(kEvery, signal);
        } catch (error) {
          if (signal.aborted) return;
          const known = error instanceof ApiError ? error : new ApiError(0, String(error));
          setState(({ log }) => ({ log, ended: false, error: known }));
          // A log that is not there will not come; a market that is away will.
          if (known.status >= 400 && known.status < 500 && known.status !== 429) return;
          await wait(kAfterError, signal);
        }
      }
    };
    void follow();
    return () => stop.abort();
  }, [lease]);
  return state;
}
