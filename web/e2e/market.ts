import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// A real market with real lenders, for one test. Everything it keeps lies in one folder, which goes
// with it.

const binary =
  process.env.SOUK_BIN ?? fileURLToPath(new URL('../../build/release/bin/souk', import.meta.url));

export const kDatasets = process.env.SOUK_DATASETS ?? join(homedir(), '.cache/souk/datasets');

export const kPassword = 'correct horse battery staple';

// Binds a free port of this computer, says which, and keeps it. Nobody is given that port then, and only a program
// that asks for this very one can listen on it. Node binds no port without listening on it.
const kHoldPort = `
import socket, sys
held = socket.socket()
held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
held.bind(("127.0.0.1", 0))
print(held.getsockname()[1], flush=True)
sys.stdin.read()
`;

export class Market {
  readonly folder = mkdtempSync(join(tmpdir(), 'souk-e2e-'));
  url = '';
  private server: ChildProcess | undefined;
  private lenders: ChildProcess[] = [];
  private port = '';
  private holder: ChildProcess | undefined; // Of the port, while the server is away too.

  private constructor(private readonly flags: string[]) {}

  static async start(flags: string[] = []): Promise<Market> {
    const market = new Market(flags.includes('--signup-bonus') ? flags : [...flags, '--signup-bonus', '0']);
    await market.holdPort();
    await market.serve();
    return market;
  }

  // What every program of this market gets: a home of its own, and the data sets of this computer.
  env(more: Record<string, string> = {}): NodeJS.ProcessEnv {
    return {
      ...process.env,
      HOME: this.folder,
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      XDG_CACHE_HOME: join(this.folder, 'cache'),
      SOUK_DATASETS: kDatasets,
      SOUK_SERVER: this.url,
      SOUK_PASSWORD: kPassword,
      ...more,
    };
  }

  private async holdPort(): Promise<void> {
    const holder = spawn('python3', ['-c', kHoldPort], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.holder = holder;
    this.port = await new Promise<string>((resolve, reject) => {
      holder.once('error', reject);
      holder.once('exit', (code) => reject(new Error(`no port: python3 ended with ${code}`)));
      createInterface(holder.stdout).once('line', resolve);
    });
  }

  async serve(): Promise<void> {
    const server = spawn(
      binary,
      ['serve', '--data', join(this.folder, 'market'), '--listen', `127.0.0.1:${this.port}`, '--round', '500ms',
        '--challenge-slack', '20', ...this.flags],
      { env: this.env(), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.server = server;
    let said = '';
    server.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
    this.url = await new Promise<string>((resolve, reject) => {
      server.once('exit', (code) => reject(new Error(`souk serve ended with ${code}: ${said}`)));
      createInterface(server.stdout).on('line', (line) => {
        const found = /listening on (\S+)/.exec(line);
        if (found?.[1]) resolve(found[1]);
      });
    });
  }

  // The server goes at once, as in a power cut.
  async kill(): Promise<void> {
    await end(this.server, 'SIGKILL');
  }

  // The CLI, as `who`; its answer as JSON.
  souk<T = unknown>(who: string, ...args: string[]): T {
    const done = spawnSync(binary, [...args, '--json'], {
      env: this.env({ HOME: join(this.folder, who), XDG_CONFIG_HOME: join(this.folder, who), XDG_CACHE_HOME: join(this.folder, 'cache') }),
      encoding: 'utf8',
      timeout: 300_000,
    });
    if (done.status !== 0) throw new Error(`souk ${args.join(' ')}: ${done.stderr}`);
    return JSON.parse(done.stdout) as T;
  }

  account(name: string): void {
    this.souk(name, 'account', 'create', name);
  }

  // An agent in a folder of its own, started as the console says.
  lend(args: string[], env: Record<string, string>): ChildProcess {
    const folder = join(this.folder, `lend-${this.lenders.length}`);
    const lender = spawn(binary, ['lend', '--folder', folder, ...args], {
      // Agents of other tests are not in its way.
      env: this.env({ SOUK_CORE_SCOPE: folder.slice(-80), ...env }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    lender.stderr.on('data', (piece: Buffer) => {
      if (process.env.SOUK_E2E_LOUD) process.stderr.write(piece);
    });
    this.lenders.push(lender);
    return lender;
  }

  async stop(): Promise<void> {
    for (const lender of this.lenders) await end(lender, 'SIGKILL');
    await end(this.server, 'SIGTERM');
    await end(this.holder, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await gone;
}
