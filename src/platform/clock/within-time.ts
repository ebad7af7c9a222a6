import type { Clock } from './clock.js';
import { untilAborted } from './until-aborted.js';

export interface TimeBound {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
  /** Makes the error for a timeout. */
  readonly late: () => Error;
}

/**
 * Runs `work` with a signal that is aborted with the caller's signal or at the timeout. Rejects at once then, also when the work
 * ignores the signal.
 * @throws the error of `late`; the signal's reason
 */
export async function withinTime<Result>(
  { clock, ms, signal, late }: TimeBound,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const timeout = new AbortController();
  const cancel = clock.after(ms, () => timeout.abort(late()));
  const either = AbortSignal.any([signal, timeout.signal]);
  try {
    return await untilAborted(work(either), either);
  } finally {
    cancel();
  }
}
