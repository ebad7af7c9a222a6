import { type TimeBound, withinTime as within } from '../../platform/clock/index.js';
import { McpFailure } from './mcp-failure.js';

/** @throws McpFailure `timeout`; the signal's reason */
export function withinTime<Result>(
  bound: Omit<TimeBound, 'late'>,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = (): McpFailure =>
    new McpFailure('timeout', `The server did not answer within ${bound.ms / 1000} seconds.`);
  return within({ ...bound, late }, work);
}
