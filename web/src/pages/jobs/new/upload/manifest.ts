// The list of a folder's files, as src/blob/manifest.h writes it: one string of bytes for one
// content, whose digest names the folder.

export const kChunkBytes = 4 << 20;

export type Entry = {
  path: string; // Relative, with '/'.
  size: number;
  chunks: Uint8Array[]; // Digests, 32 bytes each.
  folder?: boolean; // An empty folder.
};

const encoder = new TextEncoder();

// Byte order with '/' before all other bytes: what is in a folder follows the folder at once.
export function comparePaths(a: Uint8Array, b: Uint8Array): number {
  const rank = (byte: number) => (byte === 0x2f ? 0 : byte + 1);
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; ++i) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

// Why a path cannot be sent, or nothing.
export function pathProblem(path: string): string | undefined {
  const bytes = encoder.encode(path);
  if (bytes.length > 4_095) return 'its path is longer than 4095 bytes';
  const parts = path.split('/');
  if (parts.length > 101) return 'it is more than 100 folders deep';
  if (parts.some((p) => p === '' || p === '.' || p === '..' || p.includes('\0')))
    return 'its path is not plain';
  if (parts.some((p) => encoder.encode(p).length > 255)) return 'a part of its path is longer than 255 bytes';
  return undefined;
}

class Writer {
  private bytes = new Uint8Array(1 << 16);
  private size = 0;

  raw(more: Uint8Array) {
    if (this.size + more.length > this.bytes.length) {
      const bigger = new Uint8Array(2 * (this.size + more.length));
      bigger.set(this.bytes.subarray(0, this.size));
      this.bytes = bigger;
    }
    this.bytes.set(more, this.size);
    this.size += more.length;
  }
  // LEB128. Sizes of files go beyond 32 bits, so no shifts.
  number(n: number) {
    const out: number[] = [];
    for (; n >= 0x80; n = Math.floor(n / 0x80)) out.push((n % 0x80) | 0x80);
    out.push(n);
    this.raw(Uint8Array.from(out));
  }
  done(): Uint8Array {
    return this.bytes.slice(0, this.size);
  }
}

function sharedBytes(a: Uint8Array, b: Uint8Array): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) ++i;
  return i;
}

// Sorts, and writes. Requires paths that have no problem, each once.
export function manifestBytes(entries: Entry[]): Uint8Array {
  const sorted = entries
    .map((entry) => ({ entry, path: encoder.encode(entry.path) }))
    .sort((a, b) => comparePaths(a.path, b.path));
  const out = new Writer();
  out.raw(encoder.encode('soukdir\x01'));
  out.number(sorted.length);
  let before = new Uint8Array();
  for (const { entry, path } of sorted) {
    const shared = sharedBytes(before, path);
    out.number(shared);
    out.number(path.length - shared);
    out.raw(path.subarray(shared));
    out.raw(Uint8Array.of(entry.folder ? 3 : 0));
    if (!entry.folder) {
      out.number(entry.size);
      for (const chunk of entry.chunks) out.raw(chunk);
    }
    before = path;
  }
  return out.done();
}
