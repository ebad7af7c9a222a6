import type { Clock } from './clock.js';
import { untilAborted } from './until-aborted.js';

export interface TimeBound {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
  /** What it rejects with when the time is up. */
  readonly late: () => Error;
}

/**
 * Runs `work` with a signal that is aborted when the caller's is or when the time is up. Rejects at once then, also where
 * the work takes no notice.
 * @throws what `late` makes; the signal's reason
 */
export async function withinTime<Result>(
  { clock, ms, signal, late }: TimeBound,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  const cancel = clock.after(ms, () => ended.abort(late()));
  const abort = (): void => ended.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await untilAborted(work(ended.signal), ended.signal);
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}
