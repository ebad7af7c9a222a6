import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../clock/index.js';

/** How many bytes of a refused body the service reads, and for how long. */
const DRAINED_BYTES = 64 * 1024 * 1024;
const DRAINED_MS = 10_000;

/**
 * Sends a `413` at once, but keeps the connection open and discards the rest of the body: many clients send all of it before
 * they read, and if the service closed the connection, the reset would destroy the answer that they have not read yet. The
 * service closes the connection of a client that exceeds the limits above.
 */
export function drainRefusedBodies(fastify: FastifyInstance, clock: Clock): void {
  fastify.addHook('onSend', async ({ raw }, reply, payload) => {
    if (reply.statusCode !== 413 || typeof payload !== 'string' || raw.complete || raw.destroyed) return payload;
    void reply.header('content-length', Buffer.byteLength(payload));
    return Readable.from(heldOpen(payload, raw, clock), { objectMode: false });
  });
}

/** The response has a Content-Length, so the client has all of it before this stream ends. */
async function* heldOpen(answer: string, request: IncomingMessage, clock: Clock): AsyncGenerator<Buffer> {
  const drained = drain(request, clock);
  yield Buffer.from(answer);
  await drained;
}

/** Resolves at the end of the body, or when the connection closes. */
function drain(request: IncomingMessage, clock: Clock): Promise<void> {
  // The body may have ended since the response was made, and its events are not emitted again.
  if (request.readableEnded || request.closed) return Promise.resolve();
  const cut = (): void => {
    request.socket.destroy();
  };
  const cancel = clock.after(DRAINED_MS, cut);
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > DRAINED_BYTES) cut();
  });
  return new Promise<void>((resolve) => {
    for (const over of ['end', 'close', 'error']) request.once(over, () => resolve());
    request.resume();
  }).finally(cancel);
}
