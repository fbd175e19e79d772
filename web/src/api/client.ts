import type { components, paths } from './schema';

// Calls to the market, typed by its OpenAPI document. The session is a cookie that scripts cannot
// read; the header below tells the server that a change comes from this console and not from
// another site.

export type Schemas = components['schemas'];

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;
export type PathsWith<M extends Method> = {
  [P in keyof paths]: [paths[P][M]] extends [undefined] ? never : P;
}[keyof paths];

type PathParams<O> = O extends { parameters: { path: infer X } } ? { path: X } : { path?: undefined };
type Query<O> = O extends { parameters: { query?: infer X } } ? { query?: X } : { query?: undefined };
type Body<O> = O extends { requestBody: { content: { 'application/json': infer X } } }
  ? { body: X }
  : { body?: undefined };
type Json<R> = R extends { content: { 'application/json': infer X } } ? X : never;
type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 ? Json<R[S]> : never }[keyof R]
  : never;

export type Ask<P extends PathsWith<'get'>> = PathParams<Operation<P, 'get'>> & Query<Operation<P, 'get'>>;
export type Answered<P extends PathsWith<'get'>> = Answer<Operation<P, 'get'>>;

// What the server says when it refuses: what is wrong, and what to do about it.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint = '',
    readonly field = '',
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export function urlOf(
  path: string,
  params: { path?: object | undefined; query?: object | undefined } = {},
): string {
  let url = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params.path as Record<string, unknown>)[name])),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params.query ?? {}))
    if (value !== undefined && value !== '') query.set(name, String(value));
  if (query.size > 0) url += `?${query}`;
  return url;
}

async function refusal(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as { title?: string; detail?: string; hint?: string; field?: string };
    return new ApiError(
      response.status,
      problem.detail ?? problem.title ?? `the server answered ${response.status}`,
      problem.hint,
      problem.field,
    );
  } catch {
    return new ApiError(response.status, `the server answered ${response.status}`, text.slice(0, 200));
  }
}

export async function send(method: string, url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, {
      ...init,
      method,
      credentials: 'same-origin',
      headers: { 'Souk-Session': 'cookie', ...init.headers },
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'the market does not answer', 'the console keeps trying');
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

// A new key for each change, so that the server does a repeated one once.
// (crypto.randomUUID exists only on https.)
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

export async function get<P extends PathsWith<'get'>>(
  path: P,
  ask: Ask<P>,
  signal?: AbortSignal,
): Promise<Answered<P>> {
  const response = await send('GET', urlOf(path, ask), signal ? { signal } : {});
  return (await response.json()) as Answered<P>;
}

export async function change<M extends 'post' | 'put' | 'patch' | 'delete', P extends PathsWith<M>>(
  method: M,
  path: P,
  what: PathParams<Operation<P, M>> & Body<Operation<P, M>>,
): Promise<Answer<Operation<P, M>>> {
  const response = await send(method.toUpperCase(), urlOf(path, what), {
    headers: { 'Idempotency-Key': newKey(), 'Content-Type': 'application/json' },
    ...(what.body === undefined ? {} : { body: JSON.stringify(what.body) }),
  });
  return (await response.json()) as Answer<Operation<P, M>>;
}
