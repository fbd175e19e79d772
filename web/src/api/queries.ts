import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { notifications } from '@mantine/notifications';
import { saved } from '../robust/unsaved';
import { type Answered, ApiError, type Ask, change, get, type PathsWith } from './client';

// Reads are cached under [path, parameters]; live.ts says which of them news makes stale.

type Options = { every?: number | false; enabled?: boolean };

export function useGet<P extends PathsWith<'get'>>(path: P, ask: Ask<P>, options: Options = {}) {
  return useQuery<Answered<P>, ApiError>({
    queryKey: [path, ask],
    queryFn: ({ signal }) => get(path, ask, signal),
    refetchInterval: options.every ?? false,
    enabled: options.enabled ?? true,
  });
}

// A list of pages, the first at once and the rest with `fetchNextPage`.
type PagedPath = {
  [P in PathsWith<'get'>]: Answered<P> extends { items?: unknown[]; next?: string } ? P : never;
}[PathsWith<'get'>];
type Items<P extends PagedPath> = Answered<P> extends { items?: infer X } ? NonNullable<X> : never;

export function usePages<P extends PagedPath>(path: P, ask: Ask<P>, options: Options = {}) {
  return useInfiniteQuery({
    queryKey: [path, ask, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      get(path, { ...ask, query: { ...ask.query, ...(pageParam ? { after: pageParam } : {}) } } as Ask<P>, signal),
    initialPageParam: '',
    getNextPageParam: (last: { next?: string }) => last.next,
    select: (data) => ({
      items: data.pages.flatMap((p) => (p as { items?: unknown[] }).items ?? []) as unknown as Items<P>,
    }),
    refetchInterval: options.every ?? false,
    enabled: options.enabled ?? true,
  });
}

export function tell(message: string) {
  notifications.show({ message, autoClose: 4000 });
}

export function complain(error: unknown) {
  const known = error instanceof ApiError ? error : new ApiError(0, String(error));
  notifications.show({
    color: 'red',
    title: known.message,
    message: known.hint,
    autoClose: 10_000,
  });
}

// One change: `run` does it, a refusal is shown in words, and what it may have changed is asked
// for again.
export function useChange<In = void, Out = unknown>(
  run: (input: In) => Promise<Out>,
  options: {
    done?: (out: Out, input: In) => void;
    said?: string;
    quiet?: boolean; // The caller shows the refusal.
    leaves?: boolean; // Nobody is there to ask again.
  } = {},
) {
  const client = useQueryClient();
  return useMutation<Out, unknown, In>({
    mutationFn: run,
    onSuccess: (out, input) => {
      saved();
      options.done?.(out, input);
      if (options.said) tell(options.said);
      if (!options.leaves) void client.invalidateQueries();
    },
    onError: (error) => {
      if (!options.quiet) complain(error);
    },
  });
}

export { change, get };
