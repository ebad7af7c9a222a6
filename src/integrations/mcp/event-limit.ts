import { EgressFailed } from '../../platform/egress/index.js';
import { MAX_STEP_BYTES, MAX_STEP_LINES } from './mcp-limits.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface EventLimits {
  /** Of one event. */
  readonly maxBytes: number;
  /** Called with the counts of a chunk before any of it is passed on. May throw. */
  readonly admit: (events: number, bytes: number) => void;
}

/**
 * Passes the bytes of an event stream on in steps of few lines, so that processing one does not block the event loop. Throws
 * EgressFailed as soon as one event has more than `maxBytes`. An event ends with an empty line; lines end with CR, LF or both.
 */
export async function* limitEvents(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, admit }: EventLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const counter = new EventCounter();
  for await (const chunk of chunks) {
    const { events, longest, steps } = counter.take(chunk);
    admit(events, chunk.length);
    if (longest > maxBytes) throw new EgressFailed('too_large', { detail: 'one event' });
    let start = 0;
    for (const end of steps) {
      yield chunk.subarray(start, end);
      start = end;
    }
  }
}

interface Counted {
  /** Events that end within the chunk. */
  readonly events: number;
  /** Bytes of the longest event that ends in the chunk or continues after it. */
  readonly longest: number;
  /** Where each step ends, the last at the end of the chunk. */
  readonly steps: readonly number[];
}

class EventCounter {
  private bytes = 0;
  private isLineEmpty = true;
  private isAfterCarriageReturn = false;

  take(chunk: Uint8Array): Counted {
    const steps: number[] = [];
    let [events, longest, start, lines] = [0, 0, 0, 0];
    for (let index = 0; index < chunk.length; index += 1) {
      if (lines === MAX_STEP_LINES || index - start === MAX_STEP_BYTES) {
        steps.push(index);
        start = index;
        lines = 0;
      }
      this.bytes += 1;
      if (!this.endsLine(chunk[index])) continue;
      lines += 1;
      if (this.isLineEmpty) {
        events += 1;
        longest = Math.max(longest, this.bytes);
        this.bytes = 0;
      }
      this.isLineEmpty = true;
    }
    if (chunk.length > start) steps.push(chunk.length);
    return { events, longest: Math.max(longest, this.bytes), steps };
  }

  private endsLine(byte: number | undefined): boolean {
    const isSecondOfPair = byte === LINE_FEED && this.isAfterCarriageReturn;
    this.isAfterCarriageReturn = byte === CARRIAGE_RETURN;
    const isEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
    if (!isEnd) this.isLineEmpty = false;
    return isEnd && !isSecondOfPair;
  }
}
