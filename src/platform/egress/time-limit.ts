import type { Clock } from '../clock/index.js';
import { EgressFailed } from './egress.errors.js';

/** The life of one request: aborted by its caller, or when its time is up. */
export class TimeLimit {
  readonly signal: AbortSignal;
  private readonly expired = new AbortController();
  /** The work is over: its time does not run out any more. */
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

  /** Bounds a part of the work. @returns what lifts the bound */
  abortAfter(ms: number, part: string): () => void {
    return this.clock.after(ms, () => this.expired.abort(new EgressFailed('timeout', { detail: part })));
  }
}
