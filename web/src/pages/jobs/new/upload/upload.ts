import { ApiError, newKey, send } from '../../../../api/client';
import { digestInSlices, hex } from './digest';
import type { Folder } from './folder';
import { type Entry, kChunkBytes, manifestBytes } from './manifest';

// Sends a folder: chunks first, each under the digest of its content, then the list of files that
// names it. The server is asked what it lacks, so an upload that was cut off, by the network or by
// a closed page, goes on where it was: what has arrived is not sent again.

export type UploadState = {
  phase: 'reading' | 'sending' | 'done';
  done: number; // Bytes, of
  total: number;
  trouble?: string; // It is tried again by itself.
};

// The store at the other end.
export type Market = {
  missing: (names: string[], signal: AbortSignal) => Promise<string[]>;
  put: (name: string, encoded: Blob, signal: AbortSignal) => Promise<void>;
};

export const market: Market = {
  missing: async (names, signal) => {
    const response = await send('POST', '/v1/blobs/missing', {
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': newKey() },
      body: JSON.stringify({ names }),
      signal,
    });
    return ((await response.json()) as { names?: string[] }).names ?? [];
  },
  put: async (name, encoded, signal) => {
    await send('PUT', `/v1/blobs/${name}`, {
      headers: { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': newKey() },
      body: encoded,
      signal,
    });
  },
};

export type UploadOptions = {
  signal: AbortSignal;
  onState: (state: UploadState) => void;
  waits?: number[]; // ms, before each try again; the last one goes on for ever.
};

const kNames = 1_000; // In one question.
const kAtOnce = 3; // Chunks under way.
const kWaits = [500, 1_000, 2_000, 5_000];
const kRaw = Uint8Array.of(0); // The tag of a chunk that is not compressed.

type Chunk = { name: string; blob: Blob };

const mayHelp = (error: unknown) =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

class Upload {
  private state: UploadState;

  constructor(
    private readonly folder: Folder,
    private readonly to: Market,
    private readonly options: UploadOptions,
  ) {
    this.state = { phase: 'reading', done: 0, total: folder.bytes };
  }

  private tell(change: Partial<UploadState>) {
    this.state = { ...this.state, ...change };
    this.options.onState(this.state);
  }

  // A market that does not answer is asked again until it does, or nobody waits any more.
  private async retried<T>(ask: () => Promise<T>): Promise<T> {
    const waits = this.options.waits ?? kWaits;
    for (let tries = 0; ; ++tries) {
      this.options.signal.throwIfAborted();
      try {
        const out = await ask();
        if (this.state.trouble !== undefined) {
          const { trouble: _, ...state } = this.state;
          this.state = state;
          this.options.onState(state);
        }
        return out;
      } catch (error) {
        if (!mayHelp(error)) throw error;
        this.tell({ trouble: (error as ApiError).message });
        await wait(waits[Math.min(tries, waits.length - 1)] ?? 1_000, this.options.signal);
      }
    }
  }

  private async read(): Promise<{ entries: Entry[]; chunks: Map<string, Chunk> }> {
    const chunks = new Map<string, Chunk>();
    const entries: Entry[] = [];
    for (const { path, file } of this.folder.items) {
      const entry: Entry = { path, size: file?.size ?? 0, chunks: [], ...(file ? {} : { folder: true }) };
      for (let at = 0; file && at < file.size; at += kChunkBytes) {
        this.options.signal.throwIfAborted();
        const blob = file.slice(at, at + kChunkBytes);
        const digest = await digestInSlices(await bytesOf(blob, path));
        entry.chunks.push(digest);
        const name = hex(digest);
        if (!chunks.has(name)) chunks.set(name, { name, blob });
        this.tell({ done: this.state.done + blob.size });
      }
      entries.push(entry);
    }
    return { entries, chunks };
  }

  private async lacking(names: string[]): Promise<Set<string>> {
    const out = new Set<string>();
    for (let at = 0; at < names.length; at += kNames) {
      const some = names.slice(at, at + kNames);
      for (const name of await this.retried(() => this.to.missing(some, this.options.signal))) out.add(name);
    }
    return out;
  }

  private async put({ name, blob }: Chunk) {
    await this.retried(() => this.to.put(name, new Blob([kRaw, blob]), this.options.signal));
    this.tell({ done: this.state.done + blob.size });
  }

  private async sendAll(chunks: Chunk[]) {
    let next = 0;
    const some = async () => {
      for (let chunk = chunks[next++]; chunk; chunk = chunks[next++]) await this.put(chunk);
    };
    await Promise.all(Array.from({ length: kAtOnce }, some));
  }

  async run(): Promise<string> {
    this.tell({});
    const { entries, chunks } = await this.read();
    const list = manifestBytes(entries);
    if (list.length > kChunkBytes)
      throw new Error('the list of its files is too long: pack some into an archive');
    const all = [...chunks.values()];
    const missing = await this.lacking(all.map((c) => c.name));
    const total = all.reduce((sum, c) => sum + c.blob.size, 0);
    const there = all.filter((c) => !missing.has(c.name)).reduce((sum, c) => sum + c.blob.size, 0);
    this.tell({ phase: 'sending', done: there, total });
    await this.sendAll(all.filter((c) => missing.has(c.name)));
    // Last: where it is present, its content is.
    const root = hex(await digestInSlices(list));
    if ((await this.lacking([root])).size > 0)
      await this.retried(() => this.to.put(root, new Blob([kRaw, list]), this.options.signal));
    this.tell({ phase: 'done', done: total });
    return root;
  }
}

async function bytesOf(blob: Blob, path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch {
    throw new Error(`${path} cannot be read any more: choose the folder again`);
  }
}

// The digest that names the folder, once all of it is there.
export function upload(folder: Folder, options: UploadOptions, to: Market = market): Promise<string> {
  return new Upload(folder, to, options).run();
}
