import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { newId, secureRandomBytes } from '../../../platform/ids/index.js';
import { HostSlotRepository } from '../persistence/host-slot.repository.js';
import { type HostPace, HostSlots } from './host-slots.js';
import { HOST_FORGOTTEN_MS, HOST_SWEEP_MS, MAX_HOST_LENGTH } from '../crawl-limits.js';
import { PacedQueue } from './paced-queue.js';
import { SlotPool, type SlotUsers } from './slot-pool.js';

/** `HostSlots` as rows of the database. Time is the database's: the clocks of processes differ, and then leases and pauses would. */
@Injectable()
export class LeasedHostSlots extends HostSlots implements OnApplicationShutdown {
  private readonly pools = new Map<string, SlotPool>();
  private readonly queues = new Map<string, PacedQueue>();
  private readonly users: SlotUsers;
  /** The hosts for which the present work has a slot: work within work would wait for itself. */
  private readonly present = new AsyncLocalStorage<ReadonlySet<string>>();
  private sweptAt: number;
  /** Until when hosts are to be left alone, by the monotonic clock. */
  private readonly heldBack = new Map<string, number>();

  constructor(
    private readonly slots: HostSlotRepository,
    private readonly clock: Clock,
  ) {
    super();
    this.users = { slots, clock, holder: newId(), jitter: () => secureRandomBytes(1).readUInt8() / 255 };
    this.sweptAt = clock.monotonic();
  }

  within<Result>(host: string, { delayMs, inTurnOnly = false }: HostPace, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    // Longer than any name that resolves, and than an index takes.
    const key = host.slice(0, MAX_HOST_LENGTH);
    const present = this.present.getStore() ?? new Set<string>();
    if (present.has(key)) return work();
    const holding = (): Promise<Result> => this.present.run(new Set([...present, key]), work);
    return delayMs > 0 ? this.queue(key).within({ delayMs, inTurnOnly }, holding, signal) : this.pool(key).within(holding, signal);
  }

  async holdBack(host: string, ms: number): Promise<void> {
    const key = host.slice(0, MAX_HOST_LENGTH);
    this.learnPause(key, ms);
    await this.slots.holdBack(key, ms);
  }

  async pausesOf(hosts: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const pauses = await this.slots.pauses(hosts.map((host) => host.slice(0, MAX_HOST_LENGTH)));
    for (const [host, ms] of pauses) this.learnPause(host, ms);
    return pauses;
  }

  knownPauseMs(host: string): number {
    const until = this.heldBack.get(host.slice(0, MAX_HOST_LENGTH));
    return until === undefined ? 0 : Math.max(until - this.clock.monotonic(), 0);
  }

  private learnPause(host: string, ms: number): void {
    const now = this.clock.monotonic();
    for (const [known, until] of this.heldBack) if (until <= now) this.heldBack.delete(known);
    this.heldBack.set(host, Math.max(this.heldBack.get(host) ?? 0, now + ms));
  }

  /** What is held is free at once for the others, not only when its lease is over. */
  async onApplicationShutdown(): Promise<void> {
    await this.slots.releaseAll(this.users.holder).catch(() => undefined);
  }

  private pool(host: string): SlotPool {
    const known = this.pools.get(host);
    if (known) return known;
    const pool: SlotPool = new SlotPool(host, this.users, () => this.ended(this.pools, host, pool));
    this.pools.set(host, pool);
    return pool;
  }

  private queue(host: string): PacedQueue {
    const known = this.queues.get(host);
    if (known) return known;
    const queue: PacedQueue = new PacedQueue(host, this.users, () => this.ended(this.queues, host, queue));
    this.queues.set(host, queue);
    return queue;
  }

  /** Another one may have taken its place. */
  private ended<Group>(groups: Map<string, Group>, host: string, group: Group): void {
    if (groups.get(host) !== group) return;
    groups.delete(host);
    if (this.clock.monotonic() - this.sweptAt < HOST_SWEEP_MS) return;
    this.sweptAt = this.clock.monotonic();
    // The next time, where the database does not answer.
    void this.slots.forgetHosts(HOST_FORGOTTEN_MS).catch(() => undefined);
  }
}
