import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { MemoryRunLog } from './memory-run-log.js';
import { ENDED_LOG_BYTES, ENDED_LOG_MS } from './limits.js';

const { signal } = new AbortController();

describe('the run log in memory', () => {
  it('removes a log some time after its end, not before', async () => {
    const clock = new ManualClock();
    const log = new MemoryRunLog(clock);
    log.open('running').append('t', 'x');
    log.open('ended').end();

    await clock.advance(ENDED_LOG_MS - 1);
    expect(await log.read('ended', 0, signal)).not.toBeNull();
    await clock.advance(1);
    expect(await log.read('ended', 0, signal)).toBeNull();
    expect(await log.read('running', 0, signal)).not.toBeNull();
  });

  it.each([3_600_000, -3_600_000])('measures that time independently of the wall clock, set by %i ms', async (ms) => {
    const clock = new ManualClock();
    const log = new MemoryRunLog(clock);
    log.open('ended').end();

    clock.jump(ms);
    await clock.advance(ENDED_LOG_MS - 1);
    expect(await log.read('ended', 0, signal)).not.toBeNull();
    await clock.advance(1);
    expect(await log.read('ended', 0, signal)).toBeNull();
  });

  it('removes the oldest ended logs earlier when they exceed the limit of memory', async () => {
    const log = new MemoryRunLog(new ManualClock());
    const half = 'x'.repeat(ENDED_LOG_BYTES / 2 + 1);
    for (const runId of ['first', 'second']) {
      const writer = log.open(runId);
      writer.append('t', half);
      writer.end();
    }

    expect(await log.read('first', 0, signal)).toBeNull();
    expect(await log.read('second', 0, signal)).not.toBeNull();
  });
});
