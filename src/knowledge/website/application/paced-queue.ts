import { HostPaused, type HostPace } from './host-slots.js';
import { SLOT_LEASE_MS, SLOT_POLL_MS, SLOT_RENEWAL_MS } from '../crawl-limits.js';
import type { SlotUsers } from './slot-pool.js';
import { WaitingLine } from './waiting-line.js';

/** The first slot: only one request at a time goes to a host that wants a pause between them. */
const SLOT = 1;

/** The requests of this process to a host with a pace, one after the other, in turn with those of all other processes. */
export class PacedQueue {
  private readonly line = new WaitingLine<void>();
  private busy = false;

  constructor(
    private readonly host: string,
    private readonly users: SlotUsers,
    /** Nobody waits and nothing is under way any more. */
    private readonly onEmpty: () => void,
  ) {}

  async within<Result>({ delayMs, inTurnOnly }: Required<HostPace>, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    if (this.busy && inTurnOnly) throw new HostPaused();
    if (this.busy) await this.line.wait(signal);
    this.busy = true;
    try {
      await this.claimTurn({ delayMs, inTurnOnly }, signal);
      return await this.inTurn(delayMs, work);
    } finally {
      if (!this.line.grantFirst()) {
        this.busy = false;
        this.onEmpty();
      }
    }
  }

  private async claimTurn({ delayMs, inTurnOnly }: Required<HostPace>, signal: AbortSignal): Promise<void> {
    const { slots, clock, holder, jitter } = this.users;
    for (let pollMs: number = SLOT_POLL_MS.first; ; pollMs = Math.min(pollMs * 2, SLOT_POLL_MS.last)) {
      signal.throwIfAborted();
      const { claimed, waitMs } = await slots.claimTurn(this.host, holder, { delayMs, leaseMs: SLOT_LEASE_MS });
      if (claimed) return;
      if (inTurnOnly) throw new HostPaused();
      await clock.sleep(waitMs > 0 ? waitMs : pollMs * (0.5 + jitter() / 2), signal);
    }
  }

  private async inTurn<Result>(delayMs: number, work: () => Promise<Result>): Promise<Result> {
    const { slots, clock, holder } = this.users;
    const renewal = { slots: [SLOT], leaseMs: SLOT_LEASE_MS, wantedWithinMs: 0 };
    // Both may fail: then the lease ends by itself.
    const stop = clock.every(SLOT_RENEWAL_MS, () => void slots.renew(this.host, holder, renewal).catch(() => undefined));
    const { elapsedMs } = clock.stopwatch();
    try {
      return await work();
    } finally {
      stop();
      await slots.releaseTurn(this.host, holder, Math.max(0, delayMs - elapsedMs())).catch(() => undefined);
    }
  }
}
