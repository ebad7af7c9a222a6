import type { Clock } from '../../platform/clock/index.js';
import { FIRST_RESTART_MS, MAX_RESTART_MS, RAN_WELL_MS } from './limits.js';

interface Failures {
  readonly count: number;
  readonly message: string;
  /** Until then it is not tried again. */
  readonly until: number;
  /** When it failed, or was last started for somebody who did not want to wait that long. */
  readonly tried: number;
  /** Of what failed; what has changed since is tried at once. */
  readonly version: string;
}

/** When a server that failed may be started again. */
export class RestartBackoff {
  private readonly failures = new Map<string, Failures>();

  constructor(private readonly clock: Clock) {}

  /** What to tell those who ask too early; undefined when it may be started. */
  refusal(id: string, version: string): string | undefined {
    const last = this.failures.get(id);
    const waitMs = last?.version === version ? last.until - this.clock.monotonic() : 0;
    if (last === undefined || waitMs <= 0) return undefined;
    const seconds = Math.ceil(waitMs / 1_000);
    return `${last.message} It is started again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'} at the earliest.`;
  }

  /**
   * For those who ask for just this attempt: resolves when it may be made whatever `refusal` says, which is once in
   * `FIRST_RESTART_MS`, however many of them there are.
   * @throws the signal's reason
   */
  async turn(id: string, version: string, signal: AbortSignal): Promise<void> {
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

  /** Nobody has to wait for it until it fails again, which counts together with what was before. */
  started(id: string): void {
    const last = this.failures.get(id);
    if (last) this.failures.set(id, { ...last, until: Math.min(last.until, this.clock.monotonic()) });
  }

  /** @param ranMs how long it had been running, 0 where it did not even start */
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

  /** Those that nobody has asked for since they could have been started again. */
  private dropOld(): void {
    const now = this.clock.monotonic();
    for (const [id, { until }] of this.failures) if (until + MAX_RESTART_MS < now) this.failures.delete(id);
  }
}
