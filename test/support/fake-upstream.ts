import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the server does with one request. */
export type Script = (exchange: Exchange) => void | Promise<void>;

/** One request and the means to answer it, well or badly. */
export class Exchange {
  constructor(
    readonly request: RecordedRequest,
    private readonly socket: Socket,
    private readonly response: ServerResponse,
    /** Resolves when the client's side of the connection is gone. */
    readonly disconnected: Promise<void>,
  ) {}

  /** Sends a part of an event stream; resolves when it left this process. */
  send(text: string): Promise<void> {
    if (!this.response.headersSent) this.response.writeHead(200, { 'content-type': 'text/event-stream' });
    return new Promise((resolve) => this.response.write(text, () => resolve()));
  }

  /** Sends the whole stream and ends it as HTTP has it. */
  async sendAll(frames: readonly string[]): Promise<void> {
    for (const frame of frames) await this.send(frame);
    this.end();
  }

  end(): void {
    this.response.end();
  }

  /** Breaks the connection off (RST). */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  refuse(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.response.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}

/** A real HTTP server on a port of its own that answers as a test scripts it, and keeps what it was sent. */
export class FakeUpstream {
  readonly requests: RecordedRequest[] = [];
  /** What scripts threw; their clients see a broken connection. */
  readonly scriptErrors: unknown[] = [];
  /** Connections accepted so far. */
  connections = 0;
  private script: Script;
  /** One listener a socket, however many requests it serves one after the other. */
  private readonly closed = new WeakMap<Socket, Promise<void>>();

  private constructor(
    private readonly server: Server,
    script: Script,
  ) {
    this.script = script;
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      // Not `once` of node:events, which rejects on the error that comes before the close.
      this.closed.set(socket, new Promise((resolve) => socket.once('close', () => resolve())));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.answer(request, response).catch((error: unknown) => {
        this.scriptErrors.push(error);
        response.destroy();
      });
    });
  }

  static async start(script: Script = (exchange) => exchange.refuse(500, 'no script')): Promise<FakeUpstream> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    const upstream = new FakeUpstream(server, script);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From the next request on. */
  respond(script: Script): void {
    this.script = script;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>,
    };
    this.requests.push(recorded);
    const { socket } = request;
    await this.script(new Exchange(recorded, socket, response, this.closed.get(socket) ?? Promise.resolve()));
  }
}

/** An address at which nothing listens: a port that no system gives away, and that `fetch` lets itself be sent to. */
export const REFUSED_URL = 'http://127.0.0.1:2';
