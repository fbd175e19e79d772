// Which build of the console the server has. Its page names its script by the hash of all that the
// script leads to, so another name is another build.

const scriptOf = (page: Document) =>
  page.querySelector('script[type=module][src]')?.getAttribute('src') ?? '';

export async function answers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}

// The script of the server's page when it is not the one that runs here; else nothing. In doubt,
// nothing: a page that works is not taken away.
export async function newBuild(running = scriptOf(document)): Promise<string | undefined> {
  try {
    const answer = await fetch('/index.html', { cache: 'no-cache' });
    if (!answer.ok) return undefined;
    const there = scriptOf(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    return there !== '' && running !== '' && there !== running ? there : undefined;
  } catch {
    return undefined;
  }
}

const kReloaded = 'souk.reloaded';
const kAgain = 60_000; // ms

// Loads the page again, but not twice in a minute for the same reason: something between here and
// the server that keeps sending the old page must not make it reload for ever.
export function reloadOnce(reason: string, now = Date.now(), reload = () => window.location.reload()): boolean {
  const [last, at] = (sessionStorage.getItem(kReloaded) ?? '').split(' ');
  if (last === reason && now - Number(at) < kAgain) return false;
  sessionStorage.setItem(kReloaded, `${reason} ${now}`);
  reload();
  return true;
}
