import { expect, test } from 'vitest';
import { ApiError } from '../../../../api/client';
import { digestOf, hex } from './digest';
import { type Folder, folderOf, fromDrop, fromInput } from './folder';
import { kChunkBytes } from './manifest';
import { type Market, upload, type UploadState } from './upload';

const file = (content: string | Uint8Array) => new Blob([content]) as File;
const folder = (files: Record<string, string | Uint8Array>): Folder => {
  const items = Object.entries(files).map(([path, content]) => ({ path, file: file(content) }));
  return { name: 'x', items, bytes: items.reduce((sum, i) => sum + i.file.size, 0), leftOut: 0 };
};

// A store that checks what it gets, as the server does.
class FakeMarket implements Market {
  readonly has = new Map<string, Uint8Array>();
  puts = 0;
  failures = 0;
  missing = async (names: string[]) => {
    this.fail();
    return names.filter((n) => !this.has.has(n));
  };
  put = async (name: string, encoded: Blob) => {
    this.fail();
    const bytes = new Uint8Array(await encoded.arrayBuffer());
    expect(bytes[0]).toBe(0);
    expect(hex(digestOf(bytes.subarray(1)))).toBe(name);
    ++this.puts;
    this.has.set(name, bytes.subarray(1));
  };
  private fail() {
    if (this.failures > 0) {
      --this.failures;
      throw new ApiError(0, 'the market does not answer');
    }
  }
}

const go = (what: Folder, to: Market, states: UploadState[] = [], stop = new AbortController()) =>
  upload(what, { signal: stop.signal, onState: (s) => states.push(s), waits: [1] }, to);

test('a folder arrives whole, its list of files last', async () => {
  const to = new FakeMarket();
  const states: UploadState[] = [];
  const root = await go(folder({ 'a.txt': 'hello', 'b/c.txt': 'there', 'b/empty': '' }), to, states);
  expect([...to.has.keys()].at(-1)).toBe(root);
  expect(to.puts).toBe(3);
  expect(states.at(-1)).toEqual({ phase: 'done', done: 10, total: 10 });
  expect(states.map((s) => s.phase)).toContain('reading');
});

test('what is there already is not sent again', async () => {
  const to = new FakeMarket();
  const one = await go(folder({ a: 'hello', b: 'there' }), to);
  const before = to.puts;
  expect(await go(folder({ b: 'there', a: 'hello' }), to)).toBe(one);
  expect(to.puts).toBe(before);
  await go(folder({ a: 'hello', b: 'there', c: 'more' }), to);
  expect(to.puts).toBe(before + 2); // The new file and the new list.
});

test('the same content in many files travels once', async () => {
  const to = new FakeMarket();
  await go(folder(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, 'same']))), to);
  expect(to.puts).toBe(2);
});

test('an upload that was cut off goes on where it was', async () => {
  const to = new FakeMarket();
  const big = new Uint8Array(kChunkBytes + 10).fill(7);
  const stop = new AbortController();
  const put = to.put;
  to.put = async (name, encoded) => {
    await put(name, encoded);
    if (to.puts >= 2) stop.abort();
  };
  const what = folder({ a: 'one', b: 'two', c: 'three', d: 'four', big });
  await expect(go(what, to, [], stop)).rejects.toThrow();
  const sent = to.puts;
  expect(sent).toBeGreaterThanOrEqual(2);
  to.put = put;
  const root = await go(what, to);
  expect(to.puts).toBe(7); // Six chunks and the list: none of them twice.
  expect(to.has.has(root)).toBe(true);
});

test('a market that does not answer is asked again, and the trouble is said', async () => {
  const to = new FakeMarket();
  to.failures = 3;
  const states: UploadState[] = [];
  await go(folder({ a: 'hello' }), to, states);
  expect(states.some((s) => s.trouble === 'the market does not answer')).toBe(true);
  expect(states.at(-1)?.trouble).toBeUndefined();
});

test('a refusal is not repeated', async () => {
  const to = new FakeMarket();
  let asked = 0;
  to.put = async () => {
    ++asked;
    throw new ApiError(413, 'too large');
  };
  await expect(go(folder({ a: 'hello' }), to)).rejects.toThrow('too large');
  expect(asked).toBe(1);
});

test('.soukignore is heard, and what cannot be sent is named', async () => {
  const named = (path: string, content: string) =>
    Object.assign(file(content), { webkitRelativePath: `top/${path}`, name: path }) as File;
  const picked = fromInput([named('.soukignore', '*.pyc\n'), named('a.py', 'x'), named('b.pyc', 'y')]);
  expect(picked.name).toBe('top');
  const out = await folderOf(picked);
  expect(out.items.map((i) => i.path)).toEqual(['.soukignore', 'a.py']);
  expect(out.leftOut).toBe(1);
  await expect(folderOf({ name: 'x', items: [] })).rejects.toThrow('there is no file in it');
  await expect(folderOf({ name: 'x', items: [{ path: 'a/../b', file: file('x') }] })).rejects.toThrow(
    'cannot be sent',
  );
});

// What a browser hands over when folders are dropped; folders give their entries two at a time.
type Tree = { [name: string]: string | Tree };
function entry(name: string, what: string | Tree): FileSystemEntry {
  const base = { name, isFile: typeof what === 'string', isDirectory: typeof what !== 'string' };
  if (typeof what === 'string')
    return { ...base, file: (done: (f: File) => void) => done(file(what)) } as unknown as FileSystemEntry;
  const createReader = () => {
    const left = Object.entries(what).map(([n, w]) => entry(n, w));
    return { readEntries: (done: (some: FileSystemEntry[]) => void) => done(left.splice(0, 2)) };
  };
  return { ...base, createReader } as unknown as FileSystemEntry;
}

test('a folder that was dropped is walked to its end, empty folders too', async () => {
  const tree = { 'a.py': 'x', b: { c: { 'd.txt': 'y' }, e: {} }, f: '1', g: '2', h: '3' };
  const picked = await fromDrop([entry('mine', tree)]);
  expect(picked.name).toBe('mine');
  expect(picked.items.map((i) => i.path).sort()).toEqual(['a.py', 'b/c/d.txt', 'b/e', 'f', 'g', 'h']);
  expect(picked.items.find((i) => i.path === 'b/e')?.file).toBeUndefined();
});

test('several things that were dropped together keep their names', async () => {
  const picked = await fromDrop([entry('a.py', 'x'), entry('data', { 'b.csv': 'y' })]);
  expect(picked.items.map((i) => i.path)).toEqual(['a.py', 'data/b.csv']);
});
