import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { ProviderCall } from './provider-call.js';

/**
 * The server-sent events of a response, those of one chunk together: the SDKs pass every event through several asynchronous
 * iterators, which costs more than the parsing. Ends without an error when the call closes the rest of a response that it has
 * drained.
 */
export async function* serverSentEvents(
  { body }: Response,
  call: ProviderCall,
): AsyncGenerator<readonly EventSourceMessage[]> {
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  call.isRead = false;
  for await (const chunk of untilDrained(body as AsyncIterable<Uint8Array> | null, call)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (events.length === 0) continue;
    yield events;
    events = [];
  }
  call.isRead = true;
}

/** The rest of a response throws when the call closes it. */
export async function* untilDrained<Chunk>(
  chunks: AsyncIterable<Chunk> | null,
  call: ProviderCall,
): AsyncGenerator<Chunk> {
  try {
    if (chunks) yield* chunks;
  } catch (error) {
    if (!call.drained) throw error;
  }
}
