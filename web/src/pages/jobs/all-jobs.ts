import { useEffect } from 'react';
import { usePages } from '../../api/queries';

const kPage = 500;
const kMostPages = 20; // Ten thousand jobs; older ones are found with the command line.

// The list of jobs, page after page without being asked.
export function useAllJobs(everybody: boolean) {
  const query = usePages('/v1/jobs', { query: { limit: kPage, ...(everybody ? { all: true } : {}) } });
  const { data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage, dataUpdatedAt } = query;
  const pages = Math.ceil((data?.items?.length ?? 0) / kPage);
  // A refresh of the list takes the place of a page that is on its way, so the page is asked for
  // again after each answer (dataUpdatedAt). One that was refused waits for the next refresh.
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError && pages < kMostPages) void fetchNextPage();
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage, pages, dataUpdatedAt]);
  return query;
}
