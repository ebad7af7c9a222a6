import type { Clock } from '../clock/index.js';
import { EgressFailed } from './egress.errors.js';

/** The signal of one request, which its caller or the time limit aborts. */
export class TimeLimit {
  readonly signal: AbortSignal;
  private readonly expired = new AbortController();
  readonly end: () => void;

  constructor(
    private readonly clock: Clock,
    timeoutMs: number,
    caller: AbortSignal | undefined,
  ) {
    const { signal } = this.expired;
    this.signal = caller ? AbortSignal.any([caller, signal]) : signal;
    this.end = this.abortAfter(timeoutMs, 'the whole');
  }

  /** Sets the limit of a part of the request. @returns a function that removes it */
  abortAfter(ms: number, part: string): () => void {
    return this.clock.after(ms, () => this.expired.abort(new EgressFailed('timeout', { detail: part })));
  }
}
