import type { Clock } from '../../../platform/clock/index.js';
import type { HostSlotRepository } from '../persistence/host-slot.repository.js';
import {
  SLOT_KEPT_MS, SLOT_LEASE_MS, SLOT_POLL_MS, SLOT_RENEWAL_MS, SLOT_YIELD_MS, SLOTS_PER_HOST,
} from '../crawl-limits.js';
import { WaitingLine } from './waiting-line.js';

export interface SlotUsers {
  readonly slots: HostSlotRepository;
  readonly clock: Clock;
  /** Of the claims of this process. */
  readonly holder: string;
  /** From 0 to 1, by chance. */
  readonly jitter: () => number;
}

/** A slot that this process holds. */
interface HeldSlot {
  readonly number: number;
  /** By the monotonic clock: since when nobody uses it, and until when it is certainly held. */
  idleSince: number;
  heldUntil: number;
}

/**
 * One host's slots in this process: who waits for one waits here, and one look for a free slot serves all of them. A slot goes
 * from one request to the next without a statement; once a second it is asked whether another process goes without.
 */
export class SlotPool {
  private readonly line = new WaitingLine<HeldSlot>();
  private readonly held = new Map<number, HeldSlot>();
  private readonly idle: HeldSlot[] = [];
  /** Given up here, but the database could not be told. */
  private readonly unreleased = new Set<HeldSlot>();
  private claiming = false;
  private pollMs: number = SLOT_POLL_MS.first;
  private cancelPoll: (() => void) | undefined;
  private tending = false;
  private renewedAt = 0;
  /** Slots that go to other processes as soon as their requests end. */
  private owed = 0;

  constructor(
    private readonly host: string,
    private readonly users: SlotUsers,
    /** Nobody waits and nothing is held any more. */
    private readonly onEmpty: () => void,
  ) {}

  async within<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const slot = await this.acquire(signal);
    try {
      return await work();
    } finally {
      this.giveBack(slot);
    }
  }

  private acquire(signal: AbortSignal): Promise<HeldSlot> {
    const granted = this.line.wait(signal);
    this.serve();
    // Who gave up may have been the last one that this pool was kept for.
    return granted.catch((error: unknown) => {
      this.endIfEmpty();
      throw error;
    });
  }

  private giveBack(slot: HeldSlot): void {
    if (this.owed > 0 && this.line.length > 0) {
      this.owed -= 1;
      void this.release([slot]);
      this.poll(SLOT_YIELD_MS);
    } else {
      slot.idleSince = this.users.clock.monotonic();
      this.idle.push(slot);
    }
    this.serve();
  }

  /** Hands out what is idle, and looks for more where that is not enough. */
  private serve(): void {
    const now = this.users.clock.monotonic();
    for (let slot = this.idle.pop(); slot; slot = this.idle.pop()) {
      if (slot.heldUntil <= now) void this.release([slot]);
      else if (!this.line.grantFirst(slot)) {
        this.idle.push(slot);
        break;
      }
    }
    if (this.line.length > 0 && this.held.size < SLOTS_PER_HOST && !this.claiming && !this.cancelPoll) void this.claim();
    if (this.held.size > 0) this.tend();
    this.endIfEmpty();
  }

  private async claim(): Promise<void> {
    const { slots, clock, holder } = this.users;
    const wanted = Math.min(this.line.length, SLOTS_PER_HOST - this.held.size);
    const now = clock.monotonic();
    this.claiming = true;
    try {
      const claim = { slots: SLOTS_PER_HOST, wanted, leaseMs: SLOT_LEASE_MS, holdsNone: this.held.size === 0 };
      const claimed = await slots.claim(this.host, holder, claim);
      if (this.held.size === 0) this.renewedAt = now;
      for (const number of claimed) this.add(number, now);
      if (claimed.length === wanted) this.pollMs = SLOT_POLL_MS.first;
      else this.pollAgain();
    } catch (error) {
      this.line.failAll(error);
    } finally {
      this.claiming = false;
    }
    this.serve();
  }

  private add(number: number, now: number): void {
    const slot = { number, idleSince: now, heldUntil: now + SLOT_LEASE_MS - SLOT_RENEWAL_MS };
    this.held.set(number, slot);
    this.idle.push(slot);
  }

  /** Half of each pause is left to chance, so that processes do not look at the same moments. */
  private pollAgain(): void {
    this.poll(this.pollMs * (0.5 + this.users.jitter() / 2));
    this.pollMs = Math.min(this.pollMs * 2, SLOT_POLL_MS.last);
  }

  private poll(ms: number): void {
    this.cancelPoll?.();
    this.cancelPoll = this.users.clock.after(ms, () => {
      this.cancelPoll = undefined;
      this.serve();
    });
  }

  /** As long as slots are held: renews them, and releases what is not used. */
  private tend(): void {
    if (this.tending) return;
    this.tending = true;
    this.users.clock.after(SLOT_KEPT_MS, () => {
      void this.tendOnce().finally(() => {
        this.tending = false;
        this.serve();
      });
    });
  }

  private async tendOnce(): Promise<void> {
    const now = this.users.clock.monotonic();
    const unused = this.idle.filter(({ idleSince }) => now - idleSince >= SLOT_KEPT_MS / 2);
    for (const slot of unused) this.idle.splice(this.idle.indexOf(slot), 1);
    const given = [...unused, ...this.unreleased];
    if (given.length > 0) await this.release(given);
    if (this.held.size > this.unreleased.size && (this.line.length > 0 || now - this.renewedAt >= SLOT_RENEWAL_MS)) await this.renew(now);
  }

  private async renew(now: number): Promise<void> {
    const { slots, holder } = this.users;
    const used = [...this.held.values()].filter((slot) => !this.unreleased.has(slot)).map(({ number }) => number);
    const renewed = await slots
      .renew(this.host, holder, { slots: used, leaseMs: SLOT_LEASE_MS, wantedWithinMs: 3 * SLOT_POLL_MS.last })
      // The next time; until then the leases last.
      .catch(() => null);
    if (!renewed) return;
    this.renewedAt = now;
    for (const number of renewed.slots) {
      const slot = this.held.get(number);
      if (slot) slot.heldUntil = now + SLOT_LEASE_MS - SLOT_RENEWAL_MS;
    }
    this.owed = renewed.wanted ? Math.ceil(this.held.size / 2) : 0;
  }

  /** Where it fails it is tried again, until the leases have ended by themselves: nobody may have these slots before. */
  private async release(released: readonly HeldSlot[]): Promise<void> {
    const { slots, clock, holder } = this.users;
    const numbers = released.map(({ number }) => number);
    const told = await slots.release(this.host, holder, numbers).then(() => true, () => false);
    const now = clock.monotonic();
    for (const slot of released) {
      if (!told && slot.heldUntil + SLOT_RENEWAL_MS > now) {
        this.unreleased.add(slot);
        continue;
      }
      this.unreleased.delete(slot);
      // It may have been claimed anew in between.
      if (this.held.get(slot.number) === slot) this.held.delete(slot.number);
    }
    this.serve();
  }

  private endIfEmpty(): void {
    if (this.line.length > 0 || this.held.size > 0 || this.claiming) return;
    this.cancelPoll?.();
    this.cancelPoll = undefined;
    this.onEmpty();
  }
}
