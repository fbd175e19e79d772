import { useCallback, useEffect, useRef, useState } from 'react';
import { type Folder, folderOf, type Picked } from './upload/folder';
import { upload, type UploadState } from './upload/upload';

export type Sending = {
  folder?: Folder;
  state?: UploadState;
  digest?: string;
  error?: string;
  busy: boolean;
};

// Sends a folder as soon as it was chosen; another one takes its place.
export function useUpload() {
  const [sending, setSending] = useState<Sending>({ busy: false });
  const stop = useRef<AbortController>();
  useEffect(() => () => stop.current?.abort(), []);

  const run = useCallback(async (take: () => Promise<{ name: string; items: Picked[] }>) => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    const tell = (change: Partial<Sending>) => {
      if (!mine.signal.aborted) setSending((now) => ({ ...now, ...change }));
    };
    setSending({ busy: true });
    try {
      const folder = await folderOf(await take());
      tell({ folder });
      const digest = await upload(folder, { signal: mine.signal, onState: (state) => tell({ state }) });
      tell({ digest, busy: false });
    } catch (error) {
      tell({ error: error instanceof Error ? error.message : String(error), busy: false });
    }
  }, []);

  const cancel = useCallback(() => {
    stop.current?.abort();
    setSending({ busy: false });
  }, []);
  return { sending, run, cancel };
}
