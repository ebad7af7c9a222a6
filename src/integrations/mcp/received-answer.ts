import type { EgressBody } from '../../platform/egress/index.js';
import { EgressFailed } from '../../platform/egress/index.js';
import type { Turns } from '../../platform/clock/index.js';
import { MAX_MESSAGE_BYTES } from '../limits.js';
import { limitEvents } from './event-limit.js';
import type { Exchange } from './exchange.js';
import { failureOfRequest } from './failure-of.js';
import { McpFailure } from './mcp-failure.js';
import { MAX_BATCH } from './mcp-limits.js';

export interface Receiving {
  /** Of all connections: what servers send is worked through one step after the other, however many send at once. */
  readonly turns: Turns;
  /** Of the connection; throws when it is more than can be read. */
  readonly admit: (events: number, bytes: number) => void;
  /** Undefined for the stream of notifications. */
  readonly exchange: Exchange | undefined;
}

/** An event stream, as it comes. */
export function eventsOf(body: EgressBody, { turns, admit, exchange }: Receiving): ReadableStream<Uint8Array> {
  const tooLarge = (): Error => new EgressFailed('too_large', { detail: 'one event' });
  const iterator = limitEvents(body, { maxBytes: MAX_MESSAGE_BYTES, tooLarge, admit });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await iterator.next();
          await turns.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          const failure = failureOfRequest(error);
          if (failure instanceof McpFailure) exchange?.interrupted(failure);
          controller.error(failure);
          body.discard();
        }
      },
      // The iterator waits for the next chunk and would end after it alone.
      cancel: () => body.discard(),
    },
    { highWaterMark: 0 },
  );
}

/** Any other answer, whole. */
export async function textOf(body: EgressBody, turns: Turns): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) {
    chunks.push(chunk);
    // A server may send its answer in any number of chunks.
    await turns.next();
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * `textOf` an answer with messages. @throws McpFailure `protocol` for an array of more than a server has reason to answer one
 * request with: they are all worked through at once
 */
export async function messagesOf(body: EgressBody, turns: Turns): Promise<string> {
  const text = await textOf(body, turns);
  if (text.trimStart().startsWith('[') && lengthOf(text) > MAX_BATCH) {
    throw new McpFailure('protocol', 'The server answers with too many messages at once.');
  }
  return text;
}

function lengthOf(text: string): number {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.length : 1;
  } catch {
    // Whoever reads it says what is wrong with it.
    return 0;
  }
}
