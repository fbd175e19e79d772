import { vi } from 'vitest';

// How long tests wait for what comes by itself: a ceiling that no computer reaches, however busy it is.
export const kPatience = 60_000; // ms

// Until `check` throws no more.
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: kPatience });
