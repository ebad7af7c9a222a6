import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { listenToLastingPort } from './lasting-port.js';

/** The fault. Requests before it are answered correctly, by the revision of 2025. */
export type Lie =
  | 'none'
  | 'hangs_at_connect'
  | 'hangs_at_list'
  | 'hangs_at_call'
  | 'resets'
  | 'answers_500'
  | 'invalid_json'
  | 'no_json_rpc'
  | 'huge_answer'
  | 'huge_schema'
  | 'endless_event'
  | 'stream_without_answer'
  | 'drip'
  | 'gzip_bomb'
  | 'redirect'
  | 'wrong_protocol'
  | 'unknown_session'
  | 'very_many_tools'
  | 'cyclic_pages'
  | 'endless_pages'
  | 'repeats_headers'
  | 'closes_streams'
  | 'floods'
  | 'floods_when_listened_to'
  | 'answers_after_events'
  | 'reports_progress'
  | 'answers_a_batch'
  | 'wrong_tools';

export interface LyingRequest {
  readonly httpMethod: string;
  /** Of JSON-RPC. */
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly params: Readonly<Record<string, unknown>>;
}

/** One request of JSON-RPC, or the GET of a stream. */
export interface LyingCall {
  readonly id: unknown;
  readonly params: Readonly<Record<string, unknown>>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type Call = LyingCall;
export type LyingHandler = (call: LyingCall) => void;
type Handler = LyingHandler;

/** The method with the fault, for faults that any method can have. */
export type LyingPlace = 'initialize' | 'tools/list' | 'tools/call';

const MEGABYTE = 1_048_576;
const TOOL = {
  name: 'echo',
  description: 'Echoes',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

/** An MCP server without a library that can have faults: streamable HTTP with sessions, revision 2025-06-18. */
export class LyingToolServer {
  readonly requests: LyingRequest[] = [];
  /** Requests whose client disconnected before the response. */
  abandoned = 0;
  /** Bytes that `drip` has sent. */
  drops = 0;
  lieAt: LyingPlace = 'tools/call';
  /** The tools of a correct list. */
  tools: readonly object[] = [TOOL];
  /** Sent once by `answers_after_events`, and repeatedly by `floods` and `floods_when_listened_to`, as fast as it is read. */
  flood = 'data:{}\n\n';
  /** Messages in the array that `answers_a_batch` answers with, the answer last. */
  batch = 1;
  private readonly drips = new Set<NodeJS.Timeout>();
  private readonly sessions = new Set<string>();
  private readonly handlers = new Map<string, LyingHandler>();

  private constructor(
    private readonly server: Server,
    /** The fault of the next requests. */
    public lie: Lie,
    /** The target of `redirect`. */
    private readonly redirectTo: string,
  ) {
    server.on('request', (request, response) => void this.handle(request, response));
  }

  /** @param port of a server that was closed, to start it again */
  static async start(lie: Lie = 'none', redirectTo = 'http://127.0.0.1:1/', port?: number): Promise<LyingToolServer> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    if (port === undefined) await listenToLastingPort(server);
    else await once(server.listen(port, '127.0.0.1'), 'listening');
    return new LyingToolServer(server, lie, redirectTo);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** How requests of a method are answered from now on, whatever the lie; the method `GET` is that of the stream. */
  answer(method: string, handler: LyingHandler): void {
    this.handlers.set(method, handler);
  }

  /** A session that a handler of a test begins. */
  acceptSession(id: string): void {
    this.sessions.add(id);
  }

  /** Knows none of its sessions any more, as after a restart. */
  forgetSessions(): void {
    this.sessions.clear();
  }

  /** Requests of one JSON-RPC method so far. */
  count(method: string): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  async close(): Promise<void> {
    for (const drip of this.drips) clearInterval(drip);
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    response.on('close', () => {
      if (!response.writableFinished) this.abandoned += 1;
    });
    const body = await text(request).catch(() => '');
    const message = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
    const method = typeof message['method'] === 'string' ? message['method'] : undefined;
    const params = (message['params'] ?? {}) as Call['params'];
    this.requests.push({ httpMethod: request.method ?? '', method, headers: request.headers, params });
    const call = { id: message['id'], params, request, response };
    const session = request.headers['mcp-session-id'];
    if (typeof session === 'string' && !this.sessions.has(session)) unknownSession(call);
    else if (request.method === 'GET' && this.handlers.has('GET')) this.handlers.get('GET')?.(call);
    else if (request.method === 'GET' && this.lie === 'closes_streams') closeStream(response);
    else if (request.method === 'GET' && this.lie === 'floods_when_listened_to') this.pour(response);
    else if (request.method !== 'POST') response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    else if (call.id === undefined) response.writeHead(202).end();
    else this.handlerOf(method)(call);
  }

  private handlerOf(method = ''): Handler {
    return (
      this.handlers.get(method) ??
      (method === this.lieAt ? this.lyingHandler() : undefined) ??
      this.honestHandler(method)
    );
  }

  private honestHandler(method: string): Handler {
    switch (method) {
      case 'initialize':
        return this.lie === 'hangs_at_connect' ? () => undefined : (call) => this.initialize(call);
      case 'tools/list':
        return LIST_LIES[this.lie] ?? ((call) => answerResult(call, { tools: this.tools }));
      case 'tools/call':
        return (call) => answerText(call, 'done');
      default:
        return ({ id, response }) =>
          answerJson(response, 404, { jsonrpc: '2.0', id, error: { code: -32601, message: 'No such method' } });
    }
  }

  private initialize(call: Call): void {
    const session = randomUUID();
    this.sessions.add(session);
    call.response.setHeader('mcp-session-id', session);
    answerResult(call, {
      protocolVersion: this.lie === 'wrong_protocol' ? '1999-01-01' : '2025-06-18',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'lying', version: '1' },
    });
  }

  private lyingHandler(): Handler | undefined {
    if (this.lie === 'redirect') return ({ response }) => response.writeHead(307, { location: this.redirectTo }).end();
    if (this.lie === 'floods') return ({ response }) => this.pour(response);
    if (this.lie === 'answers_after_events') return (call) => this.answerAfterEvents(call);
    if (this.lie === 'answers_a_batch') return (call) => this.answerBatch(call);
    if (this.lie === 'reports_progress') return (call) => this.reportProgress(call);
    if (this.lie === 'drip') return ({ response }) => this.drip(response);
    if (this.lie === 'unknown_session') {
      return (call) => {
        this.lie = 'none';
        unknownSession(call);
      };
    }
    return ANYWHERE[this.lie];
  }

  private pour(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    pump(response, Buffer.from(this.flood.repeat(Math.ceil(65_536 / this.flood.length))), Infinity);
  }

  private answerAfterEvents({ id, response }: Call): void {
    const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } };
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`${this.flood}data: ${JSON.stringify(answer)}\n\n`);
  }

  private answerBatch({ id, response }: Call): void {
    const notification = { jsonrpc: '2.0', method: 'notifications/message', params: {} };
    const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } };
    answerJson(response, 200, [...Array.from({ length: this.batch - 1 }, () => notification), answer]);
  }

  /** 200 a second, for a second; then the answer. */
  private reportProgress({ id, response }: Call): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (message: object): string =>
      `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
    const report = setInterval(() => {
      this.drops += 1;
      response.write(event({ method: 'notifications/progress', params: { progressToken: 1, progress: this.drops } }));
      if (this.drops < 200) return;
      clearInterval(report);
      response.end(event({ id, result: { content: [{ type: 'text', text: 'done' }] } }));
    }, 5);
    this.drips.add(report);
  }

  /** A byte now and then, for ever. */
  private drip(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => {
      this.drops += 1;
      response.write(' ');
    }, 5);
    this.drips.add(drip);
    response.on('close', () => clearInterval(drip));
  }
}

const LIST_LIES: Partial<Record<Lie, Handler>> = {
  hangs_at_list: () => undefined,
  wrong_tools: (call) =>
    answerResult(call, {
      tools: [
        { ...TOOL, description: 'first', annotations: { readOnlyHint: true } },
        { ...TOOL, description: 'second' },
        ...['', 'two words', 'line\n', 'x'.repeat(129), 7].map((name) => ({ ...TOOL, name })),
        { name: 'no-schema' },
        { name: 'of-a-string', inputSchema: { type: 'string' } },
        {
          name: 'long',
          description: 'x'.repeat(20_000),
          inputSchema: { properties: {} },
          annotations: { readOnlyHint: 'yes' },
        },
        null,
      ],
    }),
  very_many_tools: (call) =>
    answerResult(call, { tools: Array.from({ length: 501 }, (_, index) => ({ ...TOOL, name: `echo${index}` })) }),
  huge_schema: (call) =>
    answerResult(call, {
      tools: [{ ...TOOL, inputSchema: { type: 'object', description: 'x'.repeat(5 * MEGABYTE) } }],
    }),
  cyclic_pages: (call) => answerResult(call, { tools: [TOOL], nextCursor: call.params['cursor'] === 'a' ? 'b' : 'a' }),
  endless_pages: (call) => answerResult(call, { tools: [], nextCursor: `${Number(call.params['cursor'] ?? 0) + 1}` }),
};

const ANYWHERE: Partial<Record<Lie, Handler>> = {
  hangs_at_call: () => undefined,
  resets: ({ request }) => request.socket.resetAndDestroy(),
  answers_500: ({ response }) => answerJson(response, 500, { error: 'stack trace of 10.0.0.7' }),
  invalid_json: ({ response }) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc": "2.0", '),
  no_json_rpc: ({ response }) => answerJson(response, 200, { hello: 'world' }),
  huge_answer: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    pump(response, Buffer.alloc(MEGABYTE, 'x'), 100);
  },
  endless_event: ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('id: 1\ndata: "');
    pump(response, Buffer.alloc(65_536, 'x'), Infinity);
  },
  stream_without_answer: ({ response }) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n'),
  gzip_bomb: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(Buffer.alloc(64 * MEGABYTE)));
  },
  repeats_headers: (call) =>
    answerJson(call.response, 200, {
      jsonrpc: '2.0',
      id: call.id,
      error: { code: -1, message: JSON.stringify(call.request.headers) },
    }),
};

/** Asks to come back at once. */
function closeStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\nid: 1\ndata:\n\n');
}

function unknownSession({ id, response }: Call): void {
  answerJson(response, 404, { jsonrpc: '2.0', id, error: { code: -32001, message: 'Session not found' } });
}

/** A tool's result of one text. */
export function answerText(call: LyingCall, text: string): void {
  answerResult(call, { content: [{ type: 'text', text }] });
}

export function answerResult({ id, response }: LyingCall, value: object): void {
  answerJson(response, 200, { jsonrpc: '2.0', id, result: value });
}

export function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Writes as fast as it is read, until the client goes away. */
function pump(response: ServerResponse, chunk: Buffer, times: number): void {
  let left = times;
  const write = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) {
        response.once('drain', write);
        return;
      }
    }
    response.end();
  };
  write();
}
