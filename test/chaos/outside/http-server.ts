import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** An HTTP server on a port of its own. */
export class HttpServer {
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(listener: Listener): Promise<HttpServer> {
    const server = createServer((request, response) => {
      Promise.resolve()
        .then(() => listener(request, response))
        .catch(() => response.destroy());
    });
    server.keepAliveTimeout = 120_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HttpServer(server);
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
