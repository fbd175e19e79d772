import { usePages } from '../../api/queries';

// My leases as lender and borrower, newest first; older ones with `more`.
export function useMyLeases() {
  const pages = usePages('/v1/leases', { query: { limit: 500 } });
  return {
    query: pages,
    leases: pages.data?.items ?? [],
    hasMore: pages.hasNextPage,
    more: () => void pages.fetchNextPage(),
    loadingMore: pages.isFetchingNextPage,
  };
}
