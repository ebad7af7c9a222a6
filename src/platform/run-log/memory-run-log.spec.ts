import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { collect } from '../../../test/support/run-logs.js';
import { MemoryRunLog } from './memory-run-log.js';
import { ENDED_LOG_BYTES, ENDED_LOG_MS } from './limits.js';

const { signal } = new AbortController();

async function endRun(log: MemoryRunLog, runId: string, ...texts: readonly string[]): Promise<void> {
  const writer = log.open(runId);
  for (const text of texts) writer.append('t', text);
  writer.end();
  await setImmediate();
}

describe('the run log in memory', () => {
  it('removes a log some time after its end, not before', async () => {
    const clock = new ManualClock();
    const log = new MemoryRunLog(clock);
    log.open('running').append('t', 'x');
    await endRun(log, 'ended');

    await clock.advance(ENDED_LOG_MS - 1);
    expect(await log.read('ended', 0, signal)).not.toBeNull();
    await clock.advance(1);
    expect(await log.read('ended', 0, signal)).toBeNull();
    expect(await log.read('running', 0, signal)).not.toBeNull();
  });

  it.each([3_600_000, -3_600_000])('measures that time independently of the wall clock, set by %i ms', async (ms) => {
    const clock = new ManualClock();
    const log = new MemoryRunLog(clock);
    await endRun(log, 'ended');

    clock.jump(ms);
    await clock.advance(ENDED_LOG_MS - 1);
    expect(await log.read('ended', 0, signal)).not.toBeNull();
    await clock.advance(1);
    expect(await log.read('ended', 0, signal)).toBeNull();
  });

  it('passes notes to those who read now, without a number and without keeping them', async () => {
    const log = new MemoryRunLog(new ManualClock());
    const writer = log.open('run');
    writer.append('t', 'one');
    const reading = collect(log, 'run');
    await setImmediate();
    writer.note('n', 'a note');
    await setImmediate();
    writer.append('t', 'two');
    writer.end();
    const texts = (await reading).map(({ number, data }) => [number, data]);
    expect(texts).toEqual([
      [1, 'one'],
      [1, 'a note'],
      [2, 'two'],
    ]);
    expect((await collect(log, 'run')).map(({ data }) => data)).toEqual(['one', 'two']);
  });

  it('removes the oldest ended logs earlier when they exceed the limit of memory', async () => {
    const log = new MemoryRunLog(new ManualClock());
    const half = 'x'.repeat(ENDED_LOG_BYTES / 2 + 1);
    for (const runId of ['first', 'second']) await endRun(log, runId, half);

    expect(await log.read('first', 0, signal)).toBeNull();
    expect(await log.read('second', 0, signal)).not.toBeNull();
  });

  it('keeps the newest ended logs whole, of any size and number', async () => {
    const capacity = 1_000;
    const log = new MemoryRunLog(new ManualClock(), capacity);
    const kept: { readonly runId: string; readonly texts: readonly string[]; readonly size: number }[] = [];
    for (let number = 0; number < 500; number += 1) {
      const texts = Array.from({ length: (number * 7) % 4 }, (_, at) => `é${'y'.repeat((number * 31 + at) % 90)}`);
      await endRun(log, `run-${number}`, ...texts);
      const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 3, 1);
      kept.push({ runId: `run-${number}`, texts, size });

      expect(log.endedBytes).toBeLessThanOrEqual(capacity);
      // What does not fit at the end of the buffer leaves at most as much unused as the longest log has.
      for (let at = kept.length - 1, sum = 0; at >= 0; at -= 1) {
        const { runId, texts: expected, size: length } = kept[at]!;
        sum += length;
        if (sum > capacity - 300) break;
        expect((await collect(log, runId)).map(({ data }) => data)).toEqual(expected);
      }
    }
    expect(await log.read('run-0', 0, signal)).toBeNull();
  });

  it('does not keep an ended log that is longer than any text can be', async () => {
    const log = new MemoryRunLog(new ManualClock());
    await endRun(log, 'kept', 'x');
    await endRun(log, 'too long', ...new Array<string>(10).fill('x'.repeat(2 ** 26)));

    expect(await log.read('too long', 0, signal)).toBeNull();
    expect((await collect(log, 'kept')).map(({ data }) => data)).toEqual(['x']);
  });

  it('does not keep an ended log that is larger than the limit, nor remove others for it', async () => {
    const log = new MemoryRunLog(new ManualClock(), 100);
    await endRun(log, 'small', 'x');
    await endRun(log, 'large', 'y'.repeat(100));

    expect(await log.read('large', 0, signal)).toBeNull();
    expect(await collect(log, 'small')).toEqual([{ number: 1, tag: 't', data: 'x' }]);
  });

  it('gives a reader that is slower than the run all entries, also after others have taken their place', async () => {
    const log = new MemoryRunLog(new ManualClock(), 100);
    const writer = log.open('slow');
    writer.append('t', 'one');
    const entries = await log.read('slow', 0, signal);
    const reader = entries![Symbol.asyncIterator]();
    await reader.next();
    writer.append('t', 'two');
    writer.end();
    await setImmediate();
    for (let number = 0; number < 20; number += 1) await endRun(log, `later-${number}`, 'z'.repeat(40));

    expect(await log.read('slow', 0, signal)).toBeNull();
    expect(await reader.next()).toEqual({ done: false, value: [{ number: 2, tag: 't', data: 'two' }] });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });
});
