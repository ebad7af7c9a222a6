import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../clock/index.js';

/** How much of a refused body is still read, and for how long. */
const DRAINED_BYTES = 64 * 1024 * 1024;
const DRAINED_MS = 10_000;

/**
 * The `413` leaves at once, but its connection stays open while the rest of the body arrives, which is thrown away: many
 * clients send all of it before they read, and a connection that is closed on them is reset, with the answer that they
 * have not read yet. One that sends more than that is cut.
 */
export function drainRefusedBodies(fastify: FastifyInstance, clock: Clock): void {
  fastify.addHook('onSend', async ({ raw }, reply, payload) => {
    if (reply.statusCode !== 413 || typeof payload !== 'string' || raw.complete || raw.destroyed) return payload;
    void reply.header('content-length', Buffer.byteLength(payload));
    return Readable.from(heldOpen(payload, raw, clock), { objectMode: false });
  });
}

/** The client has the whole answer by its length, whenever the stream ends. */
async function* heldOpen(answer: string, request: IncomingMessage, clock: Clock): AsyncGenerator<Buffer> {
  const drained = drain(request, clock);
  yield Buffer.from(answer);
  await drained;
}

/** Resolves at the end of the body, or once the connection is closed. */
function drain(request: IncomingMessage, clock: Clock): Promise<void> {
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
