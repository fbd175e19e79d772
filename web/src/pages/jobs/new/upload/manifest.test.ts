import { expect, test } from 'vitest';
import { digestInSlices, digestOf, hex } from './digest';
import { comparePaths, type Entry, kChunkBytes, manifestBytes, pathProblem } from './manifest';

const text = new TextEncoder();
const file = (path: string, content: string): Entry => ({
  path,
  size: text.encode(content).length,
  chunks: content === '' ? [] : [digestOf(text.encode(content))],
});

// Two chunks of content that repeats every 64 KiB, and one byte.
function large(): Uint8Array {
  const out = new Uint8Array(2 * kChunkBytes + 1);
  for (let i = 0; i < out.length; ++i) out[i] = ((i & 0xffff) * 31 + ((i & 0xffff) >> 8)) & 255;
  return out;
}

function chunked(path: string, bytes: Uint8Array): Entry {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += kChunkBytes)
    chunks.push(digestOf(bytes.subarray(at, at + kChunkBytes)));
  return { path, size: bytes.length, chunks };
}

test('BLAKE2b-256 is that of the server', async () => {
  // From blob::name_of("deep").
  const wanted = 'cce41a0a5557fc123a1a5cae460f7b95941508921974b859b2207fe4b649d880';
  expect(hex(digestOf(text.encode('deep')))).toBe(wanted);
  expect(hex(await digestInSlices(text.encode('deep')))).toBe(wanted);
});

test('a folder has the name that `souk run` gives it', async () => {
  // Packed by the command line from the same files.
  const entries = [
    file('ä.txt', 'umlaut'),
    file('tool.py', 'print(1)\n'),
    file('data-2', 'x'),
    file('a.txt', 'dot'),
    file('a/b/c.txt', 'deep'),
    file('a/b-1', 'b'),
    file('data/empty', ''),
    chunked('data/large', large()),
    { path: 'out', size: 0, chunks: [], folder: true },
  ];
  const bytes = manifestBytes(entries);
  expect(hex(bytes)).toBe(
    '736f756b64697201090009612f622f632e7478740004cce41a0a5557fc123a1a5cae460f7b95941508921974b859b2207fe4b649d88003022d3100016e5c1f45cbaf19f94230ba3501c378a5335af71a331b5b5aed62792332288dc301042e74787400033fd724d4818de1b30795835ac9bf03b028ceb4d009198bc5f765ebb4a861bfe9000a646174612f656d707479000005056c617267650081808004a2105e0a372fd4742d168c48cf64452f849e1e4d40efecbcd33bb8ece4b9cbdca2105e0a372fd4742d168c48cf64452f849e1e4d40efecbcd33bb8ece4b9cbdc03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c11131404022d320001d161d71145abeec5ef15abcf0459cec60a27321e2f0ac0ef7ace5254f594447600036f7574030007746f6f6c2e7079000991e1641b25e25205d9f8995e45edd64abdcc46494c7adf3dc438440f9f76981c0006c3a42e7478740006ca306e83752c4db81a7929841954ccd6623f03dc339bd497f6de1bb5bb64fe40',
  );
  expect(hex(await digestInSlices(bytes))).toBe(
    'cfecef583b08061bbef2a7a33bd8d13372eadd8447a8cc31eaad8c1622a39244',
  );
});

test('what is in a folder comes right behind it', () => {
  const paths = ['a-b', 'a', 'ab', 'a/b', 'a.txt', 'a/b/c'].map((p) => text.encode(p)).sort(comparePaths);
  expect(paths.map((p) => new TextDecoder().decode(p))).toEqual(['a', 'a/b', 'a/b/c', 'a-b', 'a.txt', 'ab']);
});

test('sizes beyond 32 bits are written right', () => {
  const entry = { path: 'x', size: 2 ** 33, chunks: [] };
  // One entry: shared 0, length 1, 'x', kind 0, then 2^33 as LEB128.
  expect(hex(manifestBytes([entry]))).toBe('736f756b646972010100017800' + '8080808020');
});

test('paths that cannot be sent are named', () => {
  expect(pathProblem('src/main.py')).toBeUndefined();
  expect(pathProblem('a//b')).toBe('its path is not plain');
  expect(pathProblem('../b')).toBe('its path is not plain');
  expect(pathProblem('x'.repeat(256))).toBe('a part of its path is longer than 255 bytes');
  expect(pathProblem('a/'.repeat(101) + 'b')).toBe('it is more than 100 folders deep');
});
