/**
 * A separate process: an MCP server over streamable HTTP without sessions, which answers at once. Its path selects the form:
 * `/json/<tools>/<any>` answers in JSON, `/sse/…` in event streams, `/notifying/…` in JSON with a stream for changes of its tools, which never
 * change. It makes its responses in advance, because it shares the machine with the measured service.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './ipc.ts';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
}

type Form = 'json' | 'sse' | 'notifying';

/** Counts of requests since the start; a GET of `/` returns them. */
const received = { calls: 0, connections: 0, streams: 0 };

const text = (description: string): object => ({ type: 'string', description });

/** About a kilobyte, like the descriptions of large servers. */
function tool(index: number): object {
  return {
    name: `list_records_${index}`,
    description:
      'Use this to list the records of the archive in the workspace of the organization. Returns each record with its identifier, ' +
      'its owner and the time of the last change. Needs access to the workspace; fails with a message when the caller lacks it.',
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      properties: {
        query: text('What to look for, in a few words.'),
        workspace: text('Key of the workspace, as its address shows it.'),
        labels: {
          type: 'array',
          items: { type: 'string' },
          description: 'Names of labels; a record must have all of them.',
        },
        priority: {
          type: 'string',
          enum: ['low', 'normal', 'high', 'urgent'],
          description: 'How soon it should be looked at.',
        },
        after: text('Identifier of the last record of the page before; leave it out for the first page.'),
      },
      required: ['query'],
      additionalProperties: false,
    },
  };
}

const lists = new Map<number, string>();

function listOf(count: number): string {
  const made = lists.get(count) ?? JSON.stringify({ tools: Array.from({ length: count }, (_, index) => tool(index)) });
  lists.set(count, made);
  return made;
}

const CALLED = JSON.stringify({ content: [{ type: 'text', text: 'Two records: harbour dues, pilots on duty.' }] });

/** Undefined for an unknown method. */
function resultOf(method: string | undefined, form: Form, tools: number): string | undefined {
  switch (method) {
    case 'initialize':
      return JSON.stringify({
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: form === 'notifying' } },
        serverInfo: { name: 'bench', version: '1' },
      });
    case 'tools/list':
      return listOf(tools);
    case 'tools/call':
      received.calls += 1;
      return CALLED;
    case undefined:
    default:
      return undefined;
  }
}

function answer(response: ServerResponse, path: string, { id, method }: Message): void {
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const [, form = '', tools = '0'] = path.split('/');
  const result = resultOf(method, form as Form, Number(tools));
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`;
  if (result === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(`${head},"error":{"code":-32601,"message":"No such method"}}`);
  } else if (form === 'sse') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`event: message\ndata: ${head},"result":${result}}\n\n`);
  } else {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${head},"result":${result}}`);
  }
}

function get(path: string, response: ServerResponse): void {
  if (path === '/') {
    response.end(JSON.stringify(received));
  } else if (path.startsWith('/notifying/')) {
    received.streams += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    response.on('close', () => {
      received.streams -= 1;
    });
  } else {
    response.writeHead(405).end();
  }
}

function handle(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '/';
  if (request.method !== 'POST') {
    get(path, response);
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => answer(response, path, JSON.parse(body) as Message));
}

const server = createServer({ keepAliveTimeout: 120_000 }, handle);
server.on('connection', () => {
  received.connections += 1;
});
server.listen(0, '127.0.0.1', 4096, () => {
  announce({ port: (server.address() as AddressInfo).port, pid: process.pid });
});
