import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Schemas } from './client';

// News from /v1/events makes what it is about stale; React Query asks for it again if it is on the
// screen. Bursts are taken together.

export type Live = 'connecting' | 'live' | 'lost';

// Every kind that /v1/events has: a named event reaches only who asked for its name.
const kinds = [
  'missed', 'ClassSet', 'AccountFrozen', 'CreditsGranted', 'MachineAdded', 'MachineOnline',
  'MachineOffline', 'OfferPosted', 'OfferChanged', 'OfferPaused', 'OfferDraining', 'OfferRemoved',
  'JobSubmitted', 'JobChanged', 'JobWarned', 'JobPaused', 'JobResized', 'JobMoved', 'JobResumed',
  'JobEnded',
  'RoundCleared', 'LeaseGranted', 'LeaseStarted', 'LeaseSettled', 'LeaseRenewed',
  'LeaseDraining', 'LeaseClosed', 'FeedbackGiven', 'CreditsRequested', 'RequestAnswered',
];
const kTogether = 400; // ms
const kRetry = [500, 1_000, 2_000, 5_000]; // ms

// The paths whose answers a notice may change.
export function stalePaths(notice: Schemas['Notice']): string[] {
  const out: string[] = [];
  if (notice.job ?? notice.lease) out.push('/v1/jobs', '/v1/leases');
  if (notice.machine ?? notice.offer ?? notice.lease) out.push('/v1/machines', '/v1/offers', '/v1/leases');
  if (notice.class ?? notice.price ?? notice.offer) out.push('/v1/prices', '/v1/classes', '/v1/book');
  if (notice.amount ?? notice.lease) out.push('/v1/me', '/v1/ledger', '/v1/accounts', '/v1/credits');
  if (out.length === 0) out.push('/v1');
  return out;
}

const about = (paths: Set<string>) => {
  const prefixes = [...paths];
  return ({ queryKey }: Query) => {
    const path = queryKey[0];
    return typeof path === 'string' && prefixes.some((p) => path.startsWith(p));
  };
};

// Asks again for what is on the screen. An answer that is on its way is not given up, else a slow line
// with much news would never see one; it may be older than the news, so it is asked for once more.
export async function refresh(client: QueryClient, paths: Set<string>): Promise<void> {
  const predicate = about(paths);
  const onTheWay = new Set(client.getQueryCache().findAll({ predicate, fetchStatus: 'fetching' }));
  await client.invalidateQueries({ predicate }, { cancelRefetch: false });
  if (onTheWay.size > 0)
    await client.invalidateQueries({ predicate: (query) => onTheWay.has(query) }, { cancelRefetch: false });
}

export function useLive(on: boolean): Live {
  const client = useQueryClient();
  const [state, setState] = useState<Live>('connecting');
  useEffect(() => {
    if (!on) return;
    let source: EventSource | undefined;
    let timer: number | undefined;
    let retry: number | undefined;
    let tries = 0;
    let ended = false;
    const stale = new Set<string>();
    const later = () => {
      timer ??= window.setTimeout(() => {
        timer = undefined;
        void refresh(client, stale);
        stale.clear();
      }, kTogether);
    };
    const connect = () => {
      source = new EventSource('/v1/events');
      source.onopen = () => {
        // What happened while nobody listened is unknown; what was asked for then may never come.
        if (tries > 0) void client.invalidateQueries({ predicate: about(new Set(['/v1'])) });
        tries = 0;
        setState('live');
      };
      source.onerror = () => {
        source?.close();
        if (ended) return;
        setState('lost');
        // Perhaps it was not the market that ended, but the session.
        void client.invalidateQueries({ queryKey: ['/v1/me'] });
        retry = window.setTimeout(connect, kRetry[Math.min(tries++, kRetry.length - 1)]);
      };
      source.onmessage = hear;
      for (const kind of kinds) source.addEventListener(kind, hear);
    };
    const hear = (event: MessageEvent<string>) => {
      for (const path of stalePaths(JSON.parse(event.data) as Schemas['Notice'])) stale.add(path);
      later();
    };
    connect();
    return () => {
      ended = true;
      source?.close();
      window.clearTimeout(timer);
      window.clearTimeout(retry);
    };
  }, [client, on]);
  return state;
}
