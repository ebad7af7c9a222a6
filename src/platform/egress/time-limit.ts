import type { Clock } from '../clock/index.js';
import { EgressFailed } from './egress.errors.js';

/** The life of one request: aborted by its caller, or when its time is up. */
export class TimeLimit {
  private readonly controller = new AbortController();
  private readonly endings: (() => void)[] = [];

  constructor(
    private readonly clock: Clock,
    timeoutMs: number,
    caller: AbortSignal | undefined,
  ) {
    this.endings.push(this.abortAfter(timeoutMs, 'the whole'));
    if (caller) this.follow(caller);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Bounds a part of the work. @returns what lifts the bound */
  abortAfter(ms: number, part: string): () => void {
    return this.clock.after(ms, () => {
      this.controller.abort(new EgressFailed('timeout', { detail: part }));
    });
  }

  /** The work is over: nothing aborts any more. */
  end(): void {
    for (const ending of this.endings.splice(0)) ending();
  }

  private follow(caller: AbortSignal): void {
    const abort = (): void => {
      this.controller.abort(caller.reason);
    };
    if (caller.aborted) abort();
    caller.addEventListener('abort', abort, { once: true });
    this.endings.push(() => {
      caller.removeEventListener('abort', abort);
    });
  }
}
