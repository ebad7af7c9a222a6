import { expect, it } from '@jest/globals';
import { serverSentEvents } from './server-sent-events.js';

/** The data of the events that each read yields. */
async function dataOf(chunks: readonly Uint8Array[], end?: Error): Promise<string[][]> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks;
    await Promise.resolve();
    if (end) throw end;
  }
  const call = { isRead: false, drained: end !== undefined };
  const batches: string[][] = [];
  const response = { body: body() } as unknown as Response;
  for await (const events of serverSentEvents(response, call as Parameters<typeof serverSentEvents>[1])) {
    batches.push(events.map(({ data }) => data));
  }
  expect(call.isRead).toBe(true);
  return batches;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it('yields the events of one chunk together', async () => {
  expect(await dataOf([bytes('data: 1\n\ndata: 2\n\n'), bytes('data: 3\n\n')])).toEqual([['1', '2'], ['3']]);
});

it.each([1, 2, 3, 7])('reads events and characters that are cut into chunks of %i bytes', async (size) => {
  const whole = bytes('event: a\r\ndata: früh 😀\r\n\r\n: comment\n\ndata: x\ndata: y\n\n');
  const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
    whole.subarray(index * size, (index + 1) * size),
  );
  expect((await dataOf(chunks)).flat()).toEqual(['früh 😀', 'x\ny']);
});

it('ends when the call closes the rest of a response whose last event it has', async () => {
  expect(await dataOf([bytes('data: 1\n\n')], new Error('closed'))).toEqual([['1']]);
});
