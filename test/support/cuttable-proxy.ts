import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay to a real server, whose network a test takes away and gives back. */
export class CuttableProxy {
  private readonly sockets = new Set<Socket>();
  private readonly vanished = new Set<Socket>();
  private readonly upstreams = new WeakSet<Socket>();
  private cutOff = false;
  private stalled: 'nothing' | 'answers' | 'everything' = 'nothing';
  private connected = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (socket) => this.relay(socket));
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<CuttableProxy> {
    const server = createServer();
    const proxy = new CuttableProxy(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** How many connections were taken so far. */
  get connections(): number {
    return this.connected;
  }

  /** Resets every connection and refuses new ones. */
  cut(): void {
    this.cutOff = true;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Connections stay open, but the answers do not come back, or nothing passes at all. */
  stall(what: 'answers' | 'everything'): void {
    this.stalled = what;
    for (const socket of this.sockets) this.hold(socket);
  }

  /** The connections of now stay open and carry nothing more, as to a host that has vanished; new ones work. */
  vanish(): void {
    for (const socket of this.sockets) {
      socket.pause();
      this.vanished.add(socket);
    }
    this.sockets.clear();
  }

  restore(): void {
    this.cutOff = false;
    this.stalled = 'nothing';
    for (const socket of this.sockets) this.hold(socket);
  }

  async close(): Promise<void> {
    this.cut();
    for (const socket of this.vanished) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private relay(client: Socket): void {
    if (this.cutOff) {
      client.resetAndDestroy();
      return;
    }
    this.connected += 1;
    const upstream = connect(this.target);
    this.upstreams.add(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      this.hold(from);
    }
  }

  private hold(from: Socket): void {
    const held = this.stalled === 'everything' || (this.stalled === 'answers' && this.upstreams.has(from));
    if (held) from.pause();
    else from.resume();
  }
}
