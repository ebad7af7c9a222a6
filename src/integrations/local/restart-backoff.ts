import type { Clock } from '../../platform/clock/index.js';
import { FIRST_RESTART_MS, MAX_RESTART_MS, RAN_WELL_MS } from './limits.js';

interface Failures {
  readonly count: number;
  readonly message: string;
  /** No start before this time, except by `waitForAttempt`. */
  readonly until: number;
  /** When it last failed or was started by `waitForAttempt`. */
  readonly tried: number;
  /** Of the server that failed. A changed server may start at once. */
  readonly version: string;
}

/** Decides when a server that failed may start again. */
export class RestartBackoff {
  private readonly failures = new Map<string, Failures>();

  constructor(private readonly clock: Clock) {}

  /** The error message for an attempt that is too early; undefined if the server may start. */
  refusal(id: string, version: string): string | undefined {
    const last = this.failures.get(id);
    const waitMs = last?.version === version ? last.until - this.clock.monotonic() : 0;
    if (last === undefined || waitMs <= 0) return undefined;
    const seconds = Math.ceil(waitMs / 1_000);
    return `${last.message} It is started again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'} at the earliest.`;
  }

  /**
   * For an attempt that a person asked for: resolves when it may be made despite `refusal`, once per `FIRST_RESTART_MS` for all
   * callers together.
   * @throws the signal's reason
   */
  async waitForAttempt(id: string, version: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const last = this.failures.get(id);
      if (last?.version !== version) return;
      const now = this.clock.monotonic();
      const waitMs = last.tried + FIRST_RESTART_MS - now;
      if (waitMs <= 0) {
        this.failures.set(id, { ...last, tried: now });
        return;
      }
      await this.clock.sleep(waitMs, signal);
    }
  }

  /** It may start again at once, but a further failure counts together with the earlier ones. */
  started(id: string): void {
    const last = this.failures.get(id);
    if (last) this.failures.set(id, { ...last, until: Math.min(last.until, this.clock.monotonic()) });
  }

  /** @param ranMs how long it ran, 0 if it did not start */
  failed(id: string, version: string, { message, ranMs }: { readonly message: string; readonly ranMs: number }): void {
    const last = this.failures.get(id);
    const count = last?.version === version && ranMs < RAN_WELL_MS ? last.count + 1 : 1;
    const delay = Math.min(FIRST_RESTART_MS * 2 ** (count - 1), MAX_RESTART_MS);
    this.dropOld();
    const now = this.clock.monotonic();
    this.failures.set(id, { count, message, version, until: now + delay, tried: now });
  }

  forget(id: string): void {
    this.failures.delete(id);
  }

  /** Drops failures of servers that were not started since they could have been. */
  private dropOld(): void {
    const now = this.clock.monotonic();
    for (const [id, { until }] of this.failures) if (until + MAX_RESTART_MS < now) this.failures.delete(id);
  }
}
