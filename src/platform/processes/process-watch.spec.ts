import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { WATCH_EVERY_MS } from './limits.js';
import { ProcessGroup } from './process-group.js';
import type { ProcessEntry } from './process-table.js';
import { ProcessWatch } from './process-watch.js';

let clock: ManualClock;
/** Ends the running measurements. */
let measuring: (() => void)[];
let watch: ProcessWatch;

beforeEach(() => {
  clock = new ManualClock();
  measuring = [];
  watch = new ProcessWatch(
    clock,
    () => new Promise<readonly ProcessEntry[]>((resolve) => measuring.push(() => resolve([]))),
  );
});

/** A pid that no process has. */
const group = (): ProcessGroup => new ProcessGroup(NaN);
const ignore = (): void => undefined;

async function endMeasuring(): Promise<void> {
  for (const end of measuring.splice(0)) end();
  await clock.advance(0);
}

describe('the watch of running children', () => {
  it('does not measure concurrently, even if the last child ended and another started meanwhile', async () => {
    const first = group();
    watch.add(first, ignore);
    await clock.advance(WATCH_EVERY_MS);
    watch.remove(first);
    watch.add(group(), ignore);
    await clock.advance(3 * WATCH_EVERY_MS);
    expect([measuring.length, clock.pending()]).toEqual([1, 1]);
    await endMeasuring();
    await clock.advance(WATCH_EVERY_MS);
    expect([measuring.length, clock.pending()]).toEqual([1, 1]);
  });

  it('does not measure without children', async () => {
    const [one, two] = [group(), group()];
    watch.add(one, ignore);
    watch.add(two, ignore);
    await clock.advance(WATCH_EVERY_MS);
    watch.remove(one);
    watch.remove(two);
    await endMeasuring();
    await clock.advance(WATCH_EVERY_MS);
    expect([measuring.length, clock.pending()]).toEqual([0, 0]);
  });
});
