import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { Boundary } from './boundary';

// Parts of the console that are loaded when they are first shown. A load that fails is tried again;
// one that fails for good is shown as an error by the boundary around it, never as an empty page.

const kWaits = [400, 1_500]; // ms between the tries of one load.

export class ChunkError extends Error {
  constructor(readonly cause: unknown) {
    super('This part of the console could not be loaded.');
    this.name = 'ChunkError';
  }
}

export async function patiently<T>(load: () => Promise<T>, waits = kWaits): Promise<T> {
  for (let i = 0; ; ++i) {
    try {
      return await load();
    } catch (error) {
      const wait = waits[i];
      if (wait === undefined) throw new ChunkError(error);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

// React remembers a failed load for good, so each new attempt needs a new lazy component.
export function chunk<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
  waiting: (props: P) => ReactNode,
): ComponentType<P> {
  const fresh = () => lazy(() => patiently(load)) as unknown as ComponentType<P>;
  let Part = fresh();
  return function Chunk(props: P) {
    return (
      <Boundary again={() => (Part = fresh())}>
        {() => (
          <Suspense fallback={waiting(props)}>
            <Part {...props} />
          </Suspense>
        )}
      </Boundary>
    );
  };
}
