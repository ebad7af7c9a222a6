import { type Clock, untilAborted } from '../../platform/clock/index.js';
import { McpFailure } from './mcp-failure.js';

export interface TimeBound {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` with a signal that is aborted when the caller's is or when the time is up. Rejects at once then, also where
 * the work takes no notice.
 * @throws McpFailure `timeout`; the signal's reason
 */
export async function withinTime<Result>(
  { clock, ms, signal }: TimeBound,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  const cancel = clock.after(ms, () => ended.abort(late(ms)));
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

function late(ms: number): McpFailure {
  return new McpFailure('timeout', `The server did not answer within ${ms / 1000} seconds.`);
}
