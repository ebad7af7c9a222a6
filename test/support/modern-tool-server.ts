import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createMcpHandler, McpServer, type McpServerFactory } from '@modelcontextprotocol/server';

export interface ModernToolServer {
  readonly url: string;
  readonly requests: IncomingMessage[];
  /** Answers every request to listen with an error of this message. */
  refuseListening(words: (request: IncomingMessage) => string): void;
  /** Closes the streams of all listening clients. */
  dropListeners(): void;
  /** Notifies the listening clients that the list of tools has changed. */
  toolsChanged(): void;
  close(): Promise<void>;
}

/** A server that supports only the revision 2026-07-28. @param define registers its tools */
export async function startModernServer(define: (server: McpServer) => void): Promise<ModernToolServer> {
  const factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: 'modern', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true } } },
    );
    define(server);
    return server;
  };
  const handler = createMcpHandler(factory, { legacy: 'reject' });
  const requests: IncomingMessage[] = [];
  const listeners = new Set<ServerResponse>();
  let refusal: ((request: IncomingMessage) => string) | undefined;
  const server = createServer((request, response) => {
    requests.push(request);
    const listens = request.headers['mcp-method'] === 'subscriptions/listen';
    if (listens) listeners.add(response);
    const isRefused = refusal !== undefined && listens;
    const answered = isRefused
      ? refuse(request, response, refusal?.(request) ?? '')
      : handler.fetch(webRequest(request, response)).then((answer) => send(answer, response));
    answered.catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    refuseListening: (words) => {
      refusal = words;
    },
    dropListeners: () => {
      for (const response of listeners) response.destroy();
    },
    toolsChanged: () => handler.notify.toolsChanged(),
    close: async () => {
      await handler.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function webRequest(request: IncomingMessage, response: ServerResponse): Request {
  const { method = 'GET', headers, url } = request;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'DELETE';
  return new Request(`http://127.0.0.1${url}`, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] => [[name, String(value)]]),
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
  });
}

async function refuse(request: IncomingMessage, response: ServerResponse, message: string): Promise<void> {
  const { id } = JSON.parse(await text(request)) as { readonly id: unknown };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message } }));
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}
