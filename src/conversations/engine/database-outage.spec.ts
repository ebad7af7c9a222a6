import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Registry } from 'prom-client';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { type Database, DatabaseUnavailable } from '../../platform/database/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { createLogger } from '../../platform/telemetry/index.js';
import { DatabaseOutage, type Waiting } from './database-outage.js';
import {
  HELD_CHARACTERS,
  OUTAGE_MS,
  OUTAGE_NOTICE_MS,
  OUTAGE_STOP_MS,
  PROBE_JITTER_MS,
  PROBE_MS,
  RETRIES_AT_ONCE,
  TURN_MS,
} from './limits.js';

const LONGEST_PAUSE_MS = PROBE_MS + PROBE_JITTER_MS;
const AWAY = new DatabaseUnavailable(new Error('Away'));

let clock: ManualClock;
let shutdown: ShutdownState;
let outage: DatabaseOutage;
let isAway: boolean;
let looks: number;

beforeEach(() => {
  clock = new ManualClock();
  shutdown = new ShutdownState();
  isAway = true;
  looks = 0;
  const ping = (): Promise<void> => {
    looks += 1;
    return isAway ? Promise.reject(AWAY) : Promise.resolve();
  };
  const logger = createLogger({ logLevel: 'silent' });
  outage = new DatabaseOutage({ ping } as unknown as Database, clock, logger, shutdown, new Metrics(new Registry()));
});

/** Work that succeeds when the database is there and has been tried once, with its outcome so far. */
async function begin(waiting: Waiting = {}): Promise<{ readonly attempts: () => number; outcome: unknown }> {
  let attempts = 0;
  const begun = { attempts: () => attempts, outcome: 'waits' as unknown };
  const work = (): Promise<string> => {
    attempts += 1;
    return isAway ? Promise.reject(AWAY) : Promise.resolve('stored');
  };
  outage.outlast(waiting, work).then(
    (result) => (begun.outcome = result),
    (error: unknown) => (begun.outcome = error),
  );
  await clock.advance(0);
  return begun;
}

describe('work that meets an unreachable database', () => {
  it('is done soon after the database is back', async () => {
    const notify = jest.fn();
    const work = await begin({ notify });
    await clock.advance(12_000);
    expect(work).toMatchObject({ outcome: 'waits' });
    expect(notify).toHaveBeenCalledTimes(1 + Math.floor(12_000 / OUTAGE_NOTICE_MS));
    isAway = false;
    await clock.advance(LONGEST_PAUSE_MS);
    expect(work).toMatchObject({ outcome: 'stored' });
  });

  it('is looked after by one query for all, and then repeated by few at a time', async () => {
    const all = await Promise.all(Array.from({ length: 1_000 }, () => begin()));
    await clock.advance(10_000);
    expect(looks).toBeLessThanOrEqual(10_000 / PROBE_MS);
    expect(all.every(({ attempts }) => attempts() === 1)).toBe(true);
    isAway = false;
    let [now, most] = [0, 0];
    const held = Array.from({ length: 100 }, () => {
      let first = true;
      return outage.outlast({}, async () => {
        if (first) {
          first = false;
          throw AWAY;
        }
        most = Math.max(most, (now += 1));
        // The clock stands still for so long.
        for (let tick = 0; tick < 3; tick += 1) await Promise.resolve();
        now -= 1;
      });
    });
    await clock.advance(LONGEST_PAUSE_MS);
    await Promise.all(held);
    expect(most).toBe(RETRIES_AT_ONCE);
    expect(all.every(({ outcome }) => outcome === 'stored')).toBe(true);
  });

  it('passes its turn on when it waits for something else than the database', async () => {
    const answered = new AbortController();
    const slow = Array.from({ length: 3 * RETRIES_AT_ONCE }, () =>
      outage.outlast({}, async () => {
        if (isAway) throw AWAY;
        await new Promise((resolve) => answered.signal.addEventListener('abort', resolve));
        return 'answered';
      }),
    );
    const work = await begin();
    isAway = false;
    await clock.advance(LONGEST_PAUSE_MS + 3 * TURN_MS);
    expect(work).toMatchObject({ outcome: 'stored' });
    answered.abort();
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['answered']));
  });

  it('fails after two minutes', async () => {
    const work = await begin();
    await clock.advance(OUTAGE_MS - LONGEST_PAUSE_MS);
    expect(work).toMatchObject({ outcome: 'waits' });
    await clock.advance(2 * LONGEST_PAUSE_MS);
    expect(work).toMatchObject({ outcome: AWAY });
  });

  it('fails at once when what waits takes too much memory, until there is room again', async () => {
    const size = (characters: number) => ({ characters: () => characters });
    const large = await begin(size(HELD_CHARACTERS - 10));
    const small = await begin(size(10));
    const further = await begin(size(1));
    await clock.advance(LONGEST_PAUSE_MS);
    expect([large.outcome, small.outcome, further.outcome]).toEqual(['waits', 'waits', AWAY]);
    isAway = false;
    await clock.advance(LONGEST_PAUSE_MS);
    isAway = true;
    const later = await begin(size(HELD_CHARACTERS));
    await clock.advance(LONGEST_PAUSE_MS);
    expect([large.outcome, small.outcome, later.outcome]).toEqual(['stored', 'stored', 'waits']);
  });

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const reason = new Error('Cancelled');
    const work = await begin({ signal: controller.signal });
    await clock.advance(PROBE_MS);
    controller.abort(reason);
    await clock.advance(0);
    expect(work).toMatchObject({ outcome: reason });
  });

  it('fails shortly after a stopping process has begun to abort its work', async () => {
    const work = await begin();
    for (const participant of shutdown.participants) await participant.abort();
    await clock.advance(OUTAGE_STOP_MS - 1);
    expect(work).toMatchObject({ outcome: 'waits' });
    await clock.advance(1);
    expect(work).toMatchObject({ outcome: AWAY });
    const late = await begin();
    await clock.advance(0);
    expect(late).toMatchObject({ outcome: AWAY });
  });

  it('is not repeated after any other error', async () => {
    const defect = new Error('A defect');
    let attempts = 0;
    await expect(
      outage.outlast({}, () => {
        attempts += 1;
        return Promise.reject(defect);
      }),
    ).rejects.toBe(defect);
    expect(attempts).toBe(1);
  });
});
