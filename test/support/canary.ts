import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on one port of both loopback addresses that counts its connections. */
export class Canary {
  /** Connections, whatever came over them. */
  connections = 0;
  readonly requests: IncomingMessage[] = [];

  private constructor(
    readonly port: number,
    private readonly servers: readonly Server[],
    private listener: RequestListener,
  ) {
    for (const server of servers) {
      server.on('connection', () => {
        this.connections += 1;
      });
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        this.requests.push(request);
        response.on('error', () => undefined);
        this.listener(request, response);
      });
    }
  }

  static async start(listener: RequestListener = (_request, response) => response.end('canary')): Promise<Canary> {
    const ipv4 = createServer({ keepAliveTimeout: 60_000 });
    ipv4.listen(0, '127.0.0.1');
    await once(ipv4, 'listening');
    const { port } = ipv4.address() as AddressInfo;
    const ipv6 = createServer();
    // A machine without IPv6 has nothing to listen on; its canary is deaf on that side only.
    const second = await new Promise<Server[]>((resolve) => {
      ipv6.once('error', () => resolve([]));
      ipv6.listen(port, '::1', () => resolve([ipv6]));
    });
    return new Canary(port, [ipv4, ...second], listener);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** From the next request on. */
  respond(listener: RequestListener): void {
    this.listener = listener;
  }

  async close(): Promise<void> {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }
}
