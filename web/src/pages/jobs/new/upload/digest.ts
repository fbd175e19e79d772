import { blake2b } from '@noble/hashes/blake2b';
import { bytesToHex } from '@noble/hashes/utils';

// Names of content: BLAKE2b-256. Hashing is done in slices with pauses between, so that the page
// stays alive.

export const digestOf = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 });
export const hex = bytesToHex;

const kSlice = 256 << 10;
const kBusy = 12; // ms, before the page gets a turn.

// A pause that costs almost nothing: timers wait for 4 ms at least.
const pause = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

let busySince = 0;

export async function digestInSlices(bytes: Uint8Array): Promise<Uint8Array> {
  const hash = blake2b.create({ dkLen: 32 });
  for (let at = 0; at < bytes.length; at += kSlice) {
    if (performance.now() - busySince > kBusy) {
      await pause();
      busySince = performance.now();
    }
    hash.update(bytes.subarray(at, at + kSlice));
  }
  return hash.digest();
}
