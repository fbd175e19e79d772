import { ignoreOf, isLeftOut } from './ignore';
import { pathProblem } from './manifest';

// A folder that somebody dropped or chose, before it is sent.

export type Picked = { path: string; file?: File }; // Without a file: an empty folder.
export type Folder = { name: string; items: Picked[]; bytes: number; leftOut: number };

// What the server cuts into shards and packs again; `souk run` takes more.
export const kMostBytes = 1 << 30;
export const kMostFiles = 10_000;

const withoutFirst = (path: string) => path.slice(path.indexOf('/') + 1);

// From <input webkitdirectory>, which knows no empty folders, or from a choice of single files.
export function fromInput(files: Iterable<File>): { name: string; items: Picked[] } {
  const list = [...files];
  const top = list[0]?.webkitRelativePath.split('/')[0] ?? '';
  const items = list.map((file) => ({
    path: file.webkitRelativePath ? withoutFirst(file.webkitRelativePath) : file.name,
    file,
  }));
  return { name: top || (list.length === 1 ? (list[0]?.name ?? '') : 'files'), items };
}

const fileOf = (entry: FileSystemFileEntry) =>
  new Promise<File>((resolve, reject) => entry.file(resolve, reject));

// readEntries gives a hundred or so at a time, and nothing at the end.
async function childrenOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const out: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return out;
    out.push(...some);
    if (out.length > kMostFiles)
      throw new Error(`a folder with more than ${kMostFiles.toLocaleString('en')} files`);
  }
}

async function walk(entry: FileSystemEntry, path: string, out: Picked[]): Promise<void> {
  if (out.length > 2 * kMostFiles) throw new Error(`more than ${kMostFiles.toLocaleString('en')} files`);
  if (entry.isFile) {
    out.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
    return;
  }
  const children = await childrenOf(entry as FileSystemDirectoryEntry);
  if (children.length === 0 && path !== '') out.push({ path });
  for (const child of children) await walk(child, path === '' ? child.name : `${path}/${child.name}`, out);
}

// One folder that was dropped is the folder; several things together are what is in it. The entries
// have to be taken from the event at once: it is empty afterwards.
export async function fromDrop(entries: FileSystemEntry[]): Promise<{ name: string; items: Picked[] }> {
  const items: Picked[] = [];
  const [only] = entries;
  if (only && entries.length === 1 && only.isDirectory) {
    await walk(only, '', items);
    return { name: only.name, items };
  }
  for (const entry of entries) await walk(entry, entry.name, items);
  return { name: entries.length === 1 ? (only?.name ?? '') : 'files', items };
}

// Leaves out what .soukignore says, and refuses what cannot be sent.
export async function folderOf({ name, items }: { name: string; items: Picked[] }): Promise<Folder> {
  const rules = items.find((i) => i.path === '.soukignore')?.file;
  const ignore = ignoreOf(rules ? await rules.text() : '');
  const kept = items.filter((i) => !isLeftOut(ignore, i.path));
  const bytes = kept.reduce((sum, i) => sum + (i.file?.size ?? 0), 0);
  if (!kept.some((i) => i.file)) throw new Error('there is no file in it');
  for (const { path } of kept) {
    const problem = pathProblem(path);
    if (problem) throw new Error(`${path.slice(0, 80)} cannot be sent: ${problem}`);
  }
  const most = `1 GiB in ${kMostFiles.toLocaleString('en')} files`;
  if (bytes > kMostBytes || kept.length > kMostFiles)
    throw new Error(
      `it is more than ${most}, which is what a browser may send. Leave some out with .soukignore, or use souk run`,
    );
  return { name, items: kept, bytes, leftOut: items.length - kept.length };
}
