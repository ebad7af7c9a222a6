import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';

/** One event of a run for a reader. */
export interface ReadEvent {
  readonly number: number;
  readonly data: string;
  /** `performance.now()` when its last byte arrived. */
  readonly at: number;
}

/**
 * Reads an event stream to its end.
 * @throws Error if the last event is missing, or if a number is missing, repeated or out of order
 */
export async function readEvents(
  body: AsyncIterable<Buffer>,
  after: number,
  onEvent?: (event: ReadEvent) => void,
): Promise<ReadEvent[]> {
  const decoder = new StringDecoder('utf8');
  const events: ReadEvent[] = [];
  let unread = '';
  for await (const chunk of body) {
    const at = performance.now();
    unread += decoder.write(chunk);
    const frames = unread.split('\n\n');
    unread = frames.pop() ?? '';
    for (const frame of frames) {
      // A comment, which keeps a silent stream open.
      if (frame.startsWith(':')) continue;
      const event = { ...parse(frame), at };
      const expected = after + events.length + 1;
      if (event.number !== expected) throw new Error(`Event ${event.number} arrived instead of ${expected}`);
      events.push(event);
      onEvent?.(event);
    }
  }
  const last = events.at(-1);
  if (!last?.data.includes('"RUN_FINISHED"'))
    throw new Error(`A stream ended without its last event: ${last?.data ?? 'nothing'}`);
  return events;
}

function parse(frame: string): { number: number; data: string } {
  const found = /^id: (\d+)\ndata: (.*)$/.exec(frame);
  if (!found) throw new Error(`Not an event with a number: ${frame.slice(0, 200)}`);
  return { number: Number(found[1]), data: found[2] ?? '' };
}

/** @throws Error for any status but 200 */
export async function answered(answer: Dispatcher.ResponseData): Promise<AsyncIterable<Buffer>> {
  if (answer.statusCode !== 200)
    throw new Error(`Answered ${answer.statusCode}: ${(await answer.body.text()).slice(0, 200)}`);
  return answer.body as AsyncIterable<Buffer>;
}

/** @throws Error if the events of the two readers differ */
export function mustAgree(first: readonly ReadEvent[], second: readonly ReadEvent[]): void {
  const parted = second.find(({ number, data }) => first[number - 1]?.data !== data);
  if (parted) throw new Error(`Event ${parted.number} is not the same for two readers`);
  if (second.at(-1)?.number !== first.length)
    throw new Error('Two readers of a run did not read the same number of events');
}
