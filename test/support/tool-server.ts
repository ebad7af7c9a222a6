import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  type CallToolResult,
  createMcpHandler,
  type JSONRPCMessage,
  McpServer,
  type Tool,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** The protocol: the revision of 2025 over streamable HTTP or SSE, or only that of 2026 (`modern`). */
export type ToolServerKind = 'streamableHttp' | 'sse' | 'modern';

export const TOOL_SERVER_KINDS: readonly ToolServerKind[] = ['streamableHttp', 'sse', 'modern'];

export interface ServedTool extends Partial<Tool> {
  readonly name: string;
  /** By default returns the tool's name and its input. */
  readonly run?: (input: Readonly<Record<string, unknown>>) => CallToolResult | Promise<CallToolResult>;
}

/** A call as it was received. */
export interface ReceivedCall {
  readonly name: string;
  readonly input: unknown;
  readonly meta: Readonly<Record<string, unknown>>;
}

interface Session {
  readonly server: McpServer;
  readonly transport: Transport;
  readonly handle?: (request: Request) => Promise<Response>;
}

/** A tool server that records its requests. */
export class ToolServer {
  readonly calls: ReceivedCall[] = [];
  /** Every request, as the method, the path and the headers that it came with. */
  readonly requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];
  /** The number of connections. */
  connections = 0;
  /** The number of requests for the list of tools. */
  listings = 0;
  /** The number of streams for notifications. A notification before the first reaches no client. */
  listeners = 0;
  /** The status of a refused request; undefined to accept it. */
  refusal: (request: IncomingMessage) => number | undefined = () => undefined;
  /** Handles calls of unknown tools. */
  unknown: NonNullable<ServedTool['run']> = ({ name }) =>
    said(`MCP error -32602: Tool ${String(name)} not found`, true);
  private readonly sessions = new Map<string, Session>();
  private readonly modern = createMcpHandler(() => this.server(), { legacy: 'reject' });

  private constructor(
    private readonly http: HttpServer,
    readonly kind: ToolServerKind,
    private tools: readonly ServedTool[],
  ) {
    http.on('request', (request, response) => {
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(kind: ToolServerKind, ...tools: ServedTool[]): Promise<ToolServer> {
    const http = createServer();
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return new ToolServer(http, kind, tools);
  }

  get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}/mcp`;
  }

  /** The transport's name in an integration. */
  get transportType(): 'sse' | 'streamableHttp' {
    return this.kind === 'sse' ? 'sse' : 'streamableHttp';
  }

  /** Replaces the tools. @param announced whether it notifies the clients */
  become(tools: readonly ServedTool[], { announced }: { readonly announced: boolean }): void {
    this.tools = tools;
    if (!announced) return;
    this.modern.notify.toolsChanged();
    for (const { server } of this.sessions.values()) server.sendToolListChanged();
  }

  /** Clears the records. */
  reset(): void {
    this.calls.length = 0;
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    await this.modern.close();
    this.http.closeAllConnections();
    this.http.close();
    await once(this.http, 'close');
  }

  private server(): McpServer {
    const mcp = new McpServer({ name: 'test', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
    const { server } = mcp;
    server.setRequestHandler('tools/list', () => ({
      tools: this.tools.map(({ run: _run, ...tool }) => ({
        description: `Does ${tool.name}.`,
        inputSchema: { type: 'object' as const },
        ...tool,
      })),
    }));
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }) => {
      const tool = this.tools.find((each) => each.name === name);
      if (!tool) return this.unknown({ name });
      return tool.run ? tool.run(input) : said(`${name} ${JSON.stringify(input)}`);
    });
    return mcp;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = request;
    this.requests.push({ method, url, headers });
    const body = await text(request);
    const refused = this.refusal(request);
    if (refused !== undefined) return void response.writeHead(refused).end();
    if (body !== '') this.note(JSON.parse(body) as JSONRPCMessage);
    if (this.kind === 'sse') return this.answerOverSse(request, response, body);
    const fetched = webRequest(request, response, body);
    const answer = await (this.kind === 'modern' ? this.modern.fetch(fetched) : this.answerInSession(fetched, body));
    const listens = this.kind === 'modern' ? headers['mcp-method'] === 'subscriptions/listen' : method === 'GET';
    if (listens && answer.ok) this.listeners += 1;
    await send(answer, response);
  }

  private note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    const { method, params = {} } = message as { method: string; params?: Record<string, unknown> };
    if (method === (this.kind === 'modern' ? 'server/discover' : 'initialize')) this.connections += 1;
    if (method === 'tools/list') this.listings += 1;
    if (method !== 'tools/call') return;
    this.calls.push({
      name: String(params['name']),
      input: params['arguments'],
      meta: (params['_meta'] ?? {}) as ReceivedCall['meta'],
    });
  }

  private async answerInSession(request: Request, body: string): Promise<Response> {
    const known = this.sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known?.handle) return known.handle(request);
    if (!body.includes('"initialize"'))
      return new Response(null, { status: body.includes('server/discover') ? 400 : 404 });
    const server = this.server();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        this.sessions.set(id, { server, transport, handle: (next) => transport.handleRequest(next) });
      },
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  }

  private async answerOverSse(
    { method, url = '' }: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): Promise<void> {
    if (method === 'POST') {
      const session = this.sessions.get(url.split('?')[1] ?? '');
      response.writeHead(session ? 202 : 404).end();
      session?.transport.onmessage?.(JSON.parse(body) as JSONRPCMessage);
      return;
    }
    const id = randomUUID();
    const write = (event: string, data: string): Promise<void> => {
      response.write(`event: ${event}\ndata: ${data}\n\n`);
      return Promise.resolve();
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await write('endpoint', `/mcp?${id}`);
    const transport: Transport = {
      start: () => Promise.resolve(),
      send: (message) => write('message', JSON.stringify(message)),
      close: () => Promise.resolve(void response.end()),
    };
    const server = this.server();
    await server.connect(transport);
    this.sessions.set(id, { server, transport });
    this.listeners += 1;
    response.on('close', () => this.sessions.delete(id));
  }
}

/** A result of text alone. */
export function said(words: string, isError = false): CallToolResult {
  return { content: [{ type: 'text', text: words }], isError };
}

function webRequest(
  { method = 'GET', headers, url }: IncomingMessage,
  response: ServerResponse,
  body: string,
): Request {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  return new Request(`http://127.0.0.1${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    signal: gone.signal,
    ...(body !== '' && { body }),
  });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}
