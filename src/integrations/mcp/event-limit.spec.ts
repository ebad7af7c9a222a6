import { describe, expect, it } from '@jest/globals';
import { limitEvents } from './event-limit.js';
import { MAX_STEP_BYTES, MAX_STEP_LINES } from './mcp-limits.js';

async function passed(chunks: readonly string[], maxBytes: number): Promise<string> {
  async function* source(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const received: string[] = [];
  for await (const chunk of limitEvents(source(), {
    maxBytes,
    admit: () => undefined,
  }))
    received.push(Buffer.from(chunk).toString());
  return received.join('');
}

describe('an event of a stream', () => {
  it.each(['\n', '\r\n', '\r'])('is limited, but not the stream (lines end with %j)', async (end) => {
    const event = `id: 1${end}data: 1234567890${end}${end}`;
    expect(await passed(Array<string>(50).fill(event), 32)).toBe(event.repeat(50));
    expect(await passed([...event.repeat(50)], 32)).toBe(event.repeat(50));
    await expect(passed([event, `data: ${'x'.repeat(40)}`], 32)).rejects.toMatchObject({ reason: 'too_large' });
    await expect(passed([event, ...Array<string>(10).fill(`data: x${end}`)], 32)).rejects.toMatchObject({
      reason: 'too_large',
    });
  });

  it('can end in a chunk with the start of the next', async () => {
    await expect(passed(['data: 1\n\ndata: 2', '3456789012345678901234567890'], 32)).rejects.toMatchObject({
      reason: 'too_large',
    });
    expect(await passed(['data: 1\n\ndata: 2', '345\n\n'], 16)).toBe('data: 1\n\ndata: 2345\n\n');
  });
});

describe('a chunk of a stream', () => {
  async function stepsOf(chunk: string): Promise<{ steps: string[]; admitted: number[][] }> {
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(chunk);
    }
    const steps: string[] = [];
    const admitted: number[][] = [];
    const limits = {
      maxBytes: 1_048_576,
      admit: (...counts: number[]) => void admitted.push(counts),
    };
    for await (const step of limitEvents(source(), limits)) steps.push(Buffer.from(step).toString());
    return { steps, admitted };
  }

  it.each([
    ['events', 'data:{}\n\n', 7_000, 7_000],
    ['lines of one event', 'data:x\n', 7_000, 0],
    ['empty lines', '\r\n', 7_000, 7_000],
    ['bytes of one line', 'xxxxxxxxxx', 7_000, 0],
    ['nothing', '', 0, 0],
  ])('is counted first, and passed on in steps (%s)', async (_what, part, times, events) => {
    const chunk = part.repeat(times);
    const { steps, admitted } = await stepsOf(chunk);
    expect(steps.join('')).toBe(chunk);
    expect(admitted).toEqual([[events, chunk.length]]);
    expect(Math.max(0, ...steps.map(({ length }) => length))).toBeLessThanOrEqual(MAX_STEP_BYTES);
    expect(Math.max(0, ...steps.map((step) => step.split('\n').length - 1))).toBeLessThanOrEqual(MAX_STEP_LINES);
    expect(steps.length).toBeLessThanOrEqual(
      1 + chunk.length / MAX_STEP_BYTES + (chunk.split('\n').length - 1) / MAX_STEP_LINES,
    );
  });
});
