import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A call of a hook as it came over the wire. */
export interface ReceivedHook {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent. */
  readonly text: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Of the connection that it came over. */
  readonly connection: number;
}

/** Handles a call. The response is the returned value as JSON, empty for undefined; or the handler writes it itself. */
export type HookAnswer = (hook: ReceivedHook, response: ServerResponse) => unknown;

/** A customer's hook endpoint that records its requests. Each path has its own handler; without one the response is empty. */
export class HookServer {
  readonly received: ReceivedHook[] = [];
  /** How many connections were opened. */
  connections = 0;
  private readonly answers = new Map<string, HookAnswer>();
  private readonly numbers = new WeakMap<object, number>();

  private constructor(private readonly http: Server) {
    http.on('connection', (socket) => {
      this.connections += 1;
      this.numbers.set(socket, this.connections);
    });
    http.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<HookServer> {
    // Longer than the service's own, so that the service never uses a connection that the server is closing.
    const http = createServer({ keepAliveTimeout: 60_000 });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return new HookServer(http);
  }

  get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  /** The URL of a handler. @param answer replaces the handler */
  url(path: string, answer?: HookAnswer): string {
    if (answer) this.answers.set(path, answer);
    return `http://${this.host}${path}`;
  }

  /** The calls of one handler, in order. */
  of(path: string): ReceivedHook[] {
    return this.received.filter((hook) => hook.path === path);
  }

  async close(): Promise<void> {
    this.http.closeAllConnections();
    this.http.close();
    await once(this.http, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { url: path = '', method = '', headers } = request;
    const input = JSON.parse(body) as ReceivedHook['input'];
    const hook = { path, method, headers, text: body, input, connection: this.numbers.get(request.socket) ?? 0 };
    this.received.push(hook);
    const answered: unknown = await this.answers.get(path)?.(hook, response);
    if (answered === LEFT_OPEN || response.headersSent || response.destroyed) return;
    response.setHeader('content-type', 'application/json');
    response.end(answered === undefined ? '' : JSON.stringify(answered));
  }
}

/** Returned by a handler that answers by itself, later or never. */
export const LEFT_OPEN = Symbol('left open');
