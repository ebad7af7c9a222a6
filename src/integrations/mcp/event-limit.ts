import { MAX_STEP_BYTES, MAX_STEP_LINES } from './mcp-limits.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface EventLimits {
  /** Of one event. */
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  /** Is told of what came before any of it is passed on. May throw. */
  readonly admit: (events: number, bytes: number) => void;
}

/**
 * Passes the bytes of an event stream on in steps, none of which has more lines than can be worked through at once, and throws
 * `tooLarge` as soon as one event has more than `maxBytes`. An event ends with an empty line; lines end with CR, LF or both.
 */
export async function* limitEvents(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge, admit }: EventLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const counter = new EventCounter();
  for await (const chunk of chunks) {
    const { events, longest, steps } = counter.take(chunk);
    admit(events, chunk.length);
    if (longest > maxBytes) throw tooLarge();
    let start = 0;
    for (const end of steps) {
      yield chunk.subarray(start, end);
      start = end;
    }
  }
}

interface Counted {
  /** That end within the chunk. */
  readonly events: number;
  /** Bytes of the longest event that the chunk ends or goes on with. */
  readonly longest: number;
  /** Where each step ends, the last at the end of the chunk. */
  readonly steps: readonly number[];
}

class EventCounter {
  private bytes = 0;
  private lineIsEmpty = true;
  private afterCarriageReturn = false;

  take(chunk: Uint8Array): Counted {
    const steps = new StepEnds();
    let events = 0;
    let longest = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      this.bytes += 1;
      if (byte === LINE_FEED && this.afterCarriageReturn) {
        this.afterCarriageReturn = false;
        continue;
      }
      this.afterCarriageReturn = byte === CARRIAGE_RETURN;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        this.lineIsEmpty = false;
        continue;
      }
      steps.lineEndsBefore(index + 1);
      if (this.lineIsEmpty) {
        events += 1;
        longest = Math.max(longest, this.bytes);
        this.bytes = 0;
      }
      this.lineIsEmpty = true;
    }
    return { events, longest: Math.max(longest, this.bytes), steps: steps.until(chunk.length) };
  }
}

/** Where to cut a chunk. */
class StepEnds {
  private readonly ends: number[] = [];
  private lines = 0;

  lineEndsBefore(index: number): void {
    this.lines += 1;
    if (this.lines % MAX_STEP_LINES === 0) this.cut(index);
  }

  until(length: number): readonly number[] {
    this.cut(length);
    return this.ends;
  }

  /** What comes before `end` is also cut where it is long. */
  private cut(end: number): void {
    let start = this.ends.at(-1) ?? 0;
    while (end - start > MAX_STEP_BYTES) {
      start += MAX_STEP_BYTES;
      this.ends.push(start);
    }
    if (end > start) this.ends.push(end);
  }
}
