import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError, get, type Schemas } from './api/client';

// Who is logged in. The cookie itself is out of reach of scripts: the server is asked.

export type Me = Schemas['Account'];
export type Session =
  | { state: 'unknown'; error?: ApiError }
  | { state: 'out'; ended: boolean } // `ended`: there was one until a moment ago.
  | { state: 'in'; me: Me };

const kMe = ['/v1/me', {}];
const kKept: unknown[] = [kMe[0], '/readyz']; // When a session is over.
// That there is a session, not the session: it spares a newcomer's first request, which would be
// refused, and tells a session that ended from one that was left.
const kRemembered = 'souk.signed-in';
const remembered = () => localStorage.getItem(kRemembered) === 'yes';

export function enter(client: QueryClient, me: Me) {
  localStorage.setItem(kRemembered, 'yes');
  client.setQueryData(kMe, me);
}

export function leave(client: QueryClient) {
  localStorage.removeItem(kRemembered);
  client.setQueryData(kMe, null);
}

const whoAmI = queryOptions<Me | null, ApiError>({
  queryKey: kMe,
  queryFn: async ({ signal }) => {
    if (!remembered()) return null;
    try {
      return await get('/v1/me', {}, signal);
    } catch (refused) {
      if (refused instanceof ApiError && refused.status === 401) return null;
      throw refused;
    }
  },
  retry: true,
  retryDelay: (tries) => Math.min(5_000, 500 * 2 ** tries),
});

export function useSession(): Session {
  const client = useQueryClient();
  const { data, error } = useQuery(whoAmI);
  // Any page may be the first to hear that the session is over.
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        const refused = event.query.state.error;
        if (refused instanceof ApiError && refused.status === 401 && client.getQueryData(kMe))
          client.setQueryData(kMe, null);
      }),
    [client],
  );
  // What one person saw is not for the next. That the market is ready is for everybody.
  useEffect(() => {
    if (data === null) client.removeQueries({ predicate: ({ queryKey }) => !kKept.includes(queryKey[0]) });
  }, [client, data]);
  if (data) return { state: 'in', me: data };
  if (data === null) return { state: 'out', ended: remembered() };
  return error ? { state: 'unknown', error } : { state: 'unknown' };
}

// For pages, which exist only while somebody is logged in.
export function useMe(): Me {
  const { data } = useQuery(whoAmI);
  if (!data) throw new Error('nobody is logged in');
  return data;
}
