import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { until } from '../../../test/support/until.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import type { RunReader, StoredRun } from '../persistence/run-reader.repository.js';
import { type AwaitedRun, RunEnds } from './run-ends.js';
import type { RunSignals } from './run-signals.js';

const REFERENCE = { organizationId: 'o', threadId: 't', runId: 'r' };
const RUNNING = { run: { id: 'r', status: 'running' }, message: { content: 'Half' }, threadExists: true } as StoredRun;
const ENDED = { run: { id: 'r', status: 'completed' }, threadExists: true } as StoredRun;
const AWAY = new DatabaseUnavailable(new Error('away'));

let clock: ManualClock;
/** Of the whole run, and of whether it is under way. */
let reads: number;
let looks: number;
let stored: StoredRun | null | Error;
let wake: () => void;
let ends: RunEnds;

beforeEach(() => {
  clock = new ManualClock();
  [reads, looks] = [0, 0];
  wake = () => undefined;
  const answer = (): Promise<StoredRun | null> =>
    stored instanceof Error ? Promise.reject(stored) : Promise.resolve(stored);
  const find = (): Promise<StoredRun | null> => {
    reads += 1;
    return answer();
  };
  const underWay = async (): Promise<ReadonlySet<string>> => {
    looks += 1;
    const run = await answer();
    return new Set(run?.threadExists === true && run.run.status === 'running' ? [run.run.id] : []);
  };
  const expectEnd = (_of: object, call: () => void): (() => void) => {
    wake = call;
    return () => (wake = () => undefined);
  };
  ends = new RunEnds({ find, underWay } as unknown as RunReader, { expectEnd } as unknown as RunSignals, clock);
});

/** Begins to wait for a run that is under way. */
async function waiting(
  awaited: AwaitedRun = ends.expect(REFERENCE, null),
): Promise<{ end: Promise<StoredRun | null> }> {
  stored = RUNNING;
  const end = ends.wait(awaited, undefined, Infinity);
  end.catch(() => undefined);
  await asleep();
  return { end };
}

const asleep = (): Promise<void> => until(() => clock.sleeping() === 1, 'the next read is due', { everyMs: 0 });

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the waiting for the end of a run in another process', () => {
  it('ends when that process says so, without a read in between', async () => {
    const { end } = await waiting();
    stored = ENDED;
    wake();
    expect(await end).toBe(ENDED);
    expect(reads).toBe(2);
  });

  it('reads once for one signal, also for one that is wrong', async () => {
    await waiting();
    wake();
    await asleep();
    expect([reads, looks]).toEqual([1, 1]);
  });

  it('ends without a signal, half a second later', async () => {
    const { end } = await waiting();
    stored = ENDED;
    await clock.advance(500);
    expect(await end).toBe(ENDED);
  });

  it('ends as cancelled when the run is deleted', async () => {
    const { end } = await waiting();
    stored = null;
    wake();
    expect(await end).toMatchObject({ run: { status: 'cancelled', completedAt: clock.now() }, message: null });
  });

  it('goes on while the database is away for a short time, and fails when it stays away', async () => {
    const { end } = await waiting();
    stored = AWAY;
    await pass(149_000);
    stored = RUNNING;
    await pass(1_000);
    stored = AWAY;
    await pass(149_000);
    expect(clock.sleeping()).toBe(1);
    await pass(2_000);
    await expect(end).rejects.toBe(AWAY);
  });

  it('stops when its caller leaves', async () => {
    stored = RUNNING;
    const caller = new AbortController();
    const end = ends.wait(ends.expect(REFERENCE, null), caller.signal, Infinity);
    await asleep();
    caller.abort();
    await expect(end).rejects.toMatchObject({ kind: 'gone' });
    expect([reads, clock.sleeping()]).toEqual([1, 0]);
  });
});
