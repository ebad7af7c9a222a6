import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../../../platform/clock/index.js';
import { secureRandomBytes } from '../../../../platform/ids/index.js';
import { MAX_REQUEST_BYTES, REQUEST_MS } from './limits.js';
import { MessagesCall } from './messages-call.js';

/** The prompt of a run. The last one in a request names the current run. */
const PROMPT = /^Run ([\w-]{43})$/;

const request = z.object({
  messages: z.array(
    z.object({ role: z.string(), content: z.union([z.string(), z.array(z.object({ text: z.string().optional() }))]) }),
  ),
});

/** @param token of the run, made by `newToken` */
export function promptOf(token: string): string {
  return `Run ${token}`;
}

/** 256 random bits, for a key or a run. */
export function newToken(): string {
  return secureRandomBytes(32).toString('base64url');
}

/** @param token of the run that the process believes to serve */
export type CallHandler = (token: string, call: MessagesCall) => void;

/**
 * Serves the Messages API to the processes of this service, on the loopback interface. A request needs the key of its process, and names
 * its run by a token. The rest of it is ignored: the engine calls the model with the stored conversation. The endpoint is also the
 * proxy of the processes for all other traffic, and refuses every connection.
 */
export class MessagesEndpoint {
  private readonly handlers = new Map<string, CallHandler>();
  private server: Server | undefined;
  private listening: Promise<unknown> | undefined;

  constructor(private readonly clock: Clock) {}

  async open(): Promise<string> {
    if (this.server === undefined) {
      this.server = createServer((incoming, response) => void this.serve(incoming, response));
      this.server.on('connect', (_, socket) => socket.destroy());
      // The first request of a connection may come late, and a response may take as long as a run.
      Object.assign(this.server, { requestTimeout: REQUEST_MS, keepAliveTimeout: 0 });
      this.server.unref();
      this.listening = once(this.server.listen(0, '127.0.0.1'), 'listening');
    }
    try {
      await this.listening;
    } catch (error) {
      this.server = undefined;
      throw error;
    }
    const address = this.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The loopback endpoint is closed');
    return `http://127.0.0.1:${address.port}`;
  }

  /** @returns the key of the process, valid until `forget` */
  register(handler: CallHandler): string {
    const key = newToken();
    this.handlers.set(key, handler);
    return key;
  }

  forget(key: string): void {
    this.handlers.delete(key);
  }

  close(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const handler = this.handlers.get(String(incoming.headers['x-api-key']));
      const isForMessages = incoming.method === 'POST' && incoming.url?.split('?')[0] === '/v1/messages';
      const token = handler && isForMessages ? findRunToken(await readBody(incoming)) : undefined;
      if (handler === undefined) refuse(response, 401, 'authentication_error');
      else if (!isForMessages) refuse(response, 404, 'not_found_error');
      else if (token === undefined) refuse(response, 400, 'invalid_request_error');
      else handler(token, new MessagesCall(response, this.clock));
    } catch {
      // The process has aborted its request.
      response.destroy();
    }
  }
}

function refuse(response: ServerResponse, status: number, type: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(
    JSON.stringify({ type: 'error', error: { type, message: 'This endpoint serves only the runs of the service.' } }),
  );
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_REQUEST_BYTES) return '';
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The token of the last run in the request; undefined if it names none. */
function findRunToken(body: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const messages = request.safeParse(value).data?.messages ?? [];
  for (const { role, content } of messages.toReversed()) {
    if (role !== 'user') continue;
    const texts = typeof content === 'string' ? [content] : content.map(({ text = '' }) => text);
    const [, token] = texts.map((text) => PROMPT.exec(text)).find((match) => match !== null) ?? [];
    if (token !== undefined) return token;
  }
  return undefined;
}
