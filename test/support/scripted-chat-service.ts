import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export type ChatAnswer = (response: ServerResponse, request: ChatRequest) => void | Promise<void>;

/** Plays the service for a chat client: each request takes the next answer of its path. */
export class ScriptedChatService {
  readonly requests: ChatRequest[] = [];
  private readonly answers = new Map<string, ChatAnswer[]>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedChatService> {
    const server = createServer();
    const service = new ScriptedChatService(server);
    server.on('request', (incoming, response: ServerResponse) => {
      void (async () => {
        const text = Buffer.concat(await Array.fromAsync(incoming as AsyncIterable<Buffer>)).toString();
        const { method = '', url = '', headers } = incoming;
        const request = {
          method,
          path: url,
          headers,
          body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
        };
        service.requests.push(request);
        const answer = service.answers.get(`${method} ${url}`)?.shift();
        if (answer) await answer(response, request);
        else response.writeHead(599).end();
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** For the next requests of this route, one each. */
  next(route: string, ...answers: ChatAnswer[]): void {
    this.answers.set(route, [...(this.answers.get(route) ?? []), ...answers]);
  }

  /** The bodies that a route was sent. */
  sent(route: string): Readonly<Record<string, unknown>>[] {
    return this.requests.filter(({ method, path }) => `${method} ${path}` === route).map(({ body }) => body);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

export function json(status: number, body: object, headers: Record<string, string> = {}): ChatAnswer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** One event of a run, with its number. */
export function frame(id: number, event: object): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Sends the text and then ends, or breaks the connection. */
export function stream(text: string, { breaks = false } = {}): ChatAnswer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    if (text !== '') await new Promise((resolve) => response.write(text, resolve));
    if (breaks) response.destroy();
    else response.end();
  };
}
