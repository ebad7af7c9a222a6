import type { Clock } from '../../platform/clock/index.js';

/**
 * Resolves when the work is done or the time is over.
 * @throws the reason of `signal` when it aborts
 */
export async function waitAtMost(
  clock: Clock,
  ms: number,
  work: Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const signals = signal ? [signal, done.signal] : [done.signal];
  const waited = clock.sleep(ms, AbortSignal.any(signals)).catch(() => undefined);
  await Promise.race([work, waited]);
  done.abort();
  signal?.throwIfAborted();
}
