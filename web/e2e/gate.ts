import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Market } from './market';

// Stands between agents and their market and says how far a training gets: until it is opened, each lease gets
// `most` units to learn from. Who asks for another one hears that the market is away, and asks again.
export class Gate {
  url = '';
  private server: Server;
  private given = new Map<string, number>();
  private isOpen = false;

  private constructor(
    private readonly market: Market,
    private readonly most: number,
  ) {
    this.server = createServer((asked, answer) => this.hear(asked, answer));
  }

  static async before(market: Market, most: number): Promise<Gate> {
    const gate = new Gate(market, most);
    await new Promise<void>((resolve) => gate.server.listen(0, '127.0.0.1', resolve));
    gate.url = `http://127.0.0.1:${(gate.server.address() as AddressInfo).port}`;
    return gate;
  }

  open(): void {
    this.isOpen = true;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private hear(asked: IncomingMessage, answer: ServerResponse): void {
    const lease = asked.method === 'POST' && /^\/v1\/leases\/(\w+)\/units$/.exec(asked.url ?? '')?.[1];
    if (!lease || this.isOpen) return this.pass(asked, answer);
    if ((this.given.get(lease) ?? 0) >= this.most) {
      asked.resume();
      answer.writeHead(503).end();
      return;
    }
    this.pass(asked, answer, (unit) => {
      if ((JSON.parse(unit) as { kind?: string }).kind === 'train') this.given.set(lease, (this.given.get(lease) ?? 0) + 1);
    });
  }

  private pass(asked: IncomingMessage, answer: ServerResponse, read?: (body: string) => void): void {
    const { hostname, port } = new URL(this.market.url);
    const onward = request(
      { hostname, port, method: asked.method, path: asked.url, headers: asked.headers },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
        got.on('error', () => answer.destroy());
        if (!read || got.statusCode !== 200) return;
        let body = '';
        got.on('data', (piece: Buffer) => (body += piece.toString()));
        got.on('end', () => read(body));
      },
    );
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  }
}
