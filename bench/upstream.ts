/**
 * A separate process: a model provider that answers at once, with Anthropic's Messages API. It does as little as possible and makes its
 * frames in advance, because it shares the machine with the measured service.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './ipc.ts';
import { MemoryText, UPSTREAM_SEED } from './memory-text.ts';
import { DELTAS, type ReplyScript, scriptOf } from './script.ts';

function frame(data: { readonly type: string } & Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const start = frame({
  type: 'message_start',
  message: {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'bench',
    stop_reason: null,
    usage: { input_tokens: 20, output_tokens: 1 },
  },
});

const head = start + frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });

const deltas = Array.from({ length: DELTAS }, (_, index) =>
  frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `word ${index} of the reply ` } }),
);

const tail =
  frame({ type: 'content_block_stop', index: 0 }) +
  frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 * DELTAS } }) +
  frame({ type: 'message_stop' });

/** The first of several writes has one delta, so that it is only the first token. */
function partsOf(writes: number): Buffer[] {
  if (writes === 1) return [Buffer.from(head + deltas.join('') + tail)];
  const [first = '', ...others] = deltas;
  const rest = Array.from({ length: writes - 1 }, (_, index) => {
    const from = Math.floor((index * others.length) / (writes - 1));
    const to = Math.floor(((index + 1) * others.length) / (writes - 1));
    return others.slice(from, to).join('') + (index === writes - 2 ? tail : '');
  });
  return [head + first, ...rest].map((text) => Buffer.from(text));
}

const partsByWrites = Array.from({ length: DELTAS }, (_, index) => partsOf(index + 1));

let calls = 0;
const memories = new MemoryText(UPSTREAM_SEED);

/** The input of the model's tool call. Memories differ each time, or they would replace one another. */
function inputOf(tool: string): object {
  switch (tool) {
    case 'memory_save':
      return { text: memories.sentence() };
    case 'memory_search':
      return { query: memories.query() };
    default:
      return { query: 'list the records of the archive' };
  }
}

function toolCall(name: string): string {
  calls += 1;
  const block = { type: 'tool_use', id: `toolu_bench_${calls}`, name, input: {} };
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify(inputOf(name)) };
  return (
    start +
    frame({ type: 'content_block_start', index: 0, content_block: block }) +
    frame({ type: 'content_block_delta', index: 0, delta }) +
    frame({ type: 'content_block_stop', index: 0 }) +
    frame({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 20 } }) +
    frame({ type: 'message_stop' })
  );
}

function reply(response: ServerResponse, { writes, everyMs, tool }: ReplyScript): void {
  const parts = partsByWrites[writes - 1];
  if (!parts) throw new RangeError(`A reply has 1 to ${DELTAS} writes`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (tool !== undefined) {
    response.end(toolCall(tool));
    return;
  }
  if (parts.length === 1) {
    response.end(parts[0]);
    return;
  }
  response.write(parts[0]);
  let next = 1;
  const timer = setInterval(() => {
    if (next < parts.length - 1) {
      response.write(parts[next]);
      next += 1;
    } else {
      clearInterval(timer);
      response.end(parts[next]);
    }
  }, everyMs);
  response.on('close', () => {
    clearInterval(timer);
  });
}

/** Counts of requests since the start, and the last request; a GET returns them. */
const received = { requests: 0, bytes: 0, last: '' };

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(received));
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    received.requests += 1;
    received.bytes += Buffer.byteLength(body);
    received.last = body;
    try {
      reply(response, scriptOf(body));
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', 4096, () => {
  announce({ port: (server.address() as AddressInfo).port, pid: process.pid });
});
