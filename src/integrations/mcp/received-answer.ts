import type { EgressBody } from '../../platform/egress/index.js';
import type { Turns } from '../../platform/clock/index.js';
import { MAX_MESSAGE_BYTES } from '../limits.js';
import { limitEvents } from './event-limit.js';
import type { Exchange } from './exchange.js';
import { failureOfRequest } from './failure-of.js';
import { McpFailure } from './mcp-failure.js';
import { MAX_BATCH } from './mcp-limits.js';

export interface Receiving {
  /** Shared by all connections, which process what servers send one step at a time. */
  readonly turns: Turns;
  /** Throws if the connection exceeds its limit. */
  readonly admit: (events: number, bytes: number) => void;
  /** Undefined for the stream of notifications. */
  readonly exchange: Exchange | undefined;
}

/** An event stream, with bounded events. */
export function eventsOf(body: EgressBody, { turns, admit, exchange }: Receiving): ReadableStream<Uint8Array> {
  const iterator = limitEvents(body, { maxBytes: MAX_MESSAGE_BYTES, admit });
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
      // `iterator.return` would wait for the next chunk.
      cancel: () => body.discard(),
    },
    { highWaterMark: 0 },
  );
}

export async function textOf(body: EgressBody, turns: Turns): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) {
    chunks.push(chunk);
    // A server may send very many small chunks.
    await turns.next();
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws McpFailure `protocol` for an array of more than `MAX_BATCH` messages, which the SDK would process without a pause */
export async function messagesOf(body: EgressBody, turns: Turns): Promise<string> {
  const text = await textOf(body, turns);
  if (text.trimStart().startsWith('[') && lengthOf(text) > MAX_BATCH) {
    throw new McpFailure('protocol', 'The server answered with too many messages at once.');
  }
  return text;
}

function lengthOf(text: string): number {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.length : 1;
  } catch {
    // The SDK reports invalid JSON.
    return 0;
  }
}
