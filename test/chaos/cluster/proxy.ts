import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Held = 'nothing' | 'answers' | 'everything';

/** A TCP relay whose network can be cut, stalled and delayed, and whose target can be another server. */
export class Proxy {
  private readonly server: Server;
  private target: number;
  private readonly sockets = new Set<Socket>();
  private readonly upstreams = new WeakSet<Socket>();
  private isCut = false;
  private held: Held = 'nothing';
  private delayMs = 0;

  private constructor(server: Server, target: number) {
    this.server = server;
    this.target = target;
    server.on('connection', (socket) => this.relay(socket));
  }

  static async start(target: number): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** For connections made from now on. */
  aim(target: number): void {
    this.target = target;
  }

  /** Resets every connection and refuses new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Connections stay open, but the answers do not come back, or nothing passes at all. */
  stall(held: 'answers' | 'everything'): void {
    this.held = held;
    for (const socket of this.sockets) this.holdOrResume(socket);
  }

  /** Each way takes this much longer. */
  delay(milliseconds: number): void {
    this.delayMs = milliseconds;
  }

  restore(): void {
    this.isCut = false;
    this.held = 'nothing';
    this.delayMs = 0;
    for (const socket of this.sockets) this.holdOrResume(socket);
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private relay(client: Socket): void {
    client.on('error', () => undefined);
    if (this.isCut) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: this.target, noDelay: true });
    upstream.on('error', () => undefined);
    client.setNoDelay();
    this.upstreams.add(upstream);
    this.forward(client, upstream);
    this.forward(upstream, client);
  }

  private forward(from: Socket, to: Socket): void {
    this.sockets.add(from);
    const later: { readonly at: number; readonly chunk: Buffer }[] = [];
    let timer: NodeJS.Timeout | undefined;
    const pass = (): void => {
      timer = undefined;
      while (later[0] && later[0].at <= performance.now()) to.write(later.shift()?.chunk ?? '');
      if (later[0]) timer = setTimeout(pass, later[0].at - performance.now());
    };
    from.on('data', (chunk) => {
      if (this.delayMs === 0 && later.length === 0) {
        to.write(chunk);
        return;
      }
      // Never before what came earlier, also when the delay has become shorter.
      later.push({ at: Math.max(performance.now() + this.delayMs, later.at(-1)?.at ?? 0), chunk });
      timer ??= setTimeout(pass, this.delayMs);
    });
    from.on('close', () => {
      this.sockets.delete(from);
      clearTimeout(timer);
      for (const { chunk } of later) if (to.writable) to.write(chunk);
      to.destroySoon();
    });
    this.holdOrResume(from);
  }

  private holdOrResume(from: Socket): void {
    const isHeld = this.held === 'everything' || (this.held === 'answers' && this.upstreams.has(from));
    if (isHeld) from.pause();
    else from.resume();
  }
}
