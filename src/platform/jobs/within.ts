import type { Clock } from '../clock/index.js';

/** Waits for `work`, but no longer than `ms`. */
export async function within(clock: Clock, ms: number, work: Promise<unknown> | undefined): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([work, clock.sleep(ms, waiting.signal).catch(() => undefined)]);
  waiting.abort();
}
