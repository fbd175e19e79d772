import { useGet, usePages } from '../../api/queries';

// My leases as lender and borrower, or those of one machine, newest first; older ones with `more`.
export function useMyLeases(machine?: string) {
  const pages = usePages('/v1/leases', { query: { limit: 500, ...(machine ? { machine } : {}) } });
  return {
    query: pages,
    leases: pages.data?.items ?? [],
    hasMore: pages.hasNextPage,
    more: () => void pages.fetchNextPage(),
    loadingMore: pages.isFetchingNextPage,
  };
}

// What the agent says that it does for each of the newest leases, by the lease's id. There are no
// events for it.
export function useDoing(machine: string): Map<string, string> {
  const { data } = useGet('/v1/leases', { query: { machine, limit: 50 } }, { every: 2_000 });
  return new Map((data?.items ?? []).flatMap((l) => (l.doing ? [[l.id, l.doing] as const] : [])));
}
