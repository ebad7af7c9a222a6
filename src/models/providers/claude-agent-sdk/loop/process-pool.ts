import { type Clock, untilAborted } from '../../../../platform/clock/index.js';
import type { AgentProcess } from './agent-process.js';
import { IDLE_MS, MAX_RUNS, SHARE_MS } from './limits.js';

type Waiter = PromiseWithResolvers<AgentProcess>;

interface Queue {
  /** When the first waiter became the first, by the monotonic clock. */
  readonly since: number;
  readonly waiters: readonly Waiter[];
}

/**
 * A limited number of processes, each for one organization. Runs wait for a free process. An organization with many runs reuses its
 * processes until another organization has waited for `SHARE_MS`, because starting a process takes longer than a short run.
 */
export class ProcessPool {
  private readonly idle = new Map<AgentProcess, () => void>();
  private readonly busy = new Set<AgentProcess>();
  private starting = 0;
  /** By organization; the next one to serve is first. */
  private readonly waiting = new Map<string, Queue>();
  private closed = false;

  constructor(
    private readonly start: (organizationId: string) => Promise<AgentProcess>,
    private readonly size: number,
    private readonly clock: Clock,
  ) {}

  get counts(): { readonly busy: number; readonly idle: number; readonly waiting: number } {
    const waiting = [...this.waiting.values()].reduce((sum, { waiters }) => sum + waiters.length, 0);
    return { busy: this.busy.size + this.starting, idle: this.idle.size, waiting };
  }

  /** A process for one run, to be returned with `release`. @throws AgentLoopFailure; the signal's reason */
  async acquire(organizationId: string, signal: AbortSignal): Promise<AgentProcess> {
    signal.throwIfAborted();
    const waiter: Waiter = Promise.withResolvers();
    const { since, waiters } = this.waiting.get(organizationId) ?? { since: this.clock.monotonic(), waiters: [] };
    this.waiting.set(organizationId, { since, waiters: [...waiters, waiter] });
    this.serve();
    try {
      return await untilAborted(waiter.promise, signal);
    } catch (error) {
      this.leave(organizationId, waiter);
      // A process may already be starting for this run.
      waiter.promise.then(
        (process) => this.release(process),
        () => undefined,
      );
      throw error;
    }
  }

  /** Takes back a process that has ended its turn or itself. */
  release(process: AgentProcess): void {
    this.busy.delete(process);
    if (!process.hasEnded) {
      if (this.closed || process.runs >= MAX_RUNS) void process.kill('it has served its last run');
      else this.keep(process);
    }
    this.serve();
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.busy, ...this.idle.keys()].map((process) => process.kill('the service stops')));
  }

  private keep(process: AgentProcess): void {
    const cancel = this.clock.after(IDLE_MS, () => this.dismiss(process, 'it was idle'));
    this.idle.set(process, cancel);
    void process.ended.then(() => this.take(process) && this.serve());
  }

  private serve(): void {
    while (this.waiting.size > 0) {
      const idle = [...this.idle.keys()];
      const isFull = this.busy.size + this.starting + idle.length >= this.size;
      if (isFull && idle.length === 0) return;
      const organizationId = this.nextOrganization(idle);
      const waiter = this.next(organizationId);
      const own = idle.find((process) => process.organizationId === organizationId);
      if (own !== undefined && this.take(own)) {
        this.give(own, waiter);
        continue;
      }
      if (isFull && idle[0] !== undefined) this.dismiss(idle[0], 'another organization needs its place');
      void this.startFor(organizationId, waiter);
    }
  }

  /** An organization that can reuse an idle process, unless the first in the queue has waited for `SHARE_MS`. */
  private nextOrganization(idle: readonly AgentProcess[]): string {
    const [[first, { since }] = ['', { since: 0 }]] = this.waiting;
    if (this.clock.monotonic() - since >= SHARE_MS) return first;
    return idle.find(({ organizationId }) => this.waiting.has(organizationId))?.organizationId ?? first;
  }

  private async startFor(organizationId: string, waiter: Waiter): Promise<void> {
    this.starting += 1;
    try {
      const process = await this.start(organizationId);
      this.starting -= 1;
      if (this.closed) void process.kill('the service stops');
      this.give(process, waiter);
    } catch (error) {
      this.starting -= 1;
      waiter.reject(error);
      this.serve();
    }
  }

  private give(process: AgentProcess, waiter: Waiter): void {
    this.busy.add(process);
    waiter.resolve(process);
  }

  /** @returns false if it is no longer idle */
  private take(process: AgentProcess): boolean {
    this.idle.get(process)?.();
    return this.idle.delete(process);
  }

  private dismiss(process: AgentProcess, reason: string): void {
    if (this.take(process)) void process.kill(reason);
  }

  /** Removes the next run of an organization, and moves the organization to the end of the queue. */
  private next(organizationId: string): Waiter {
    const [first, ...others] = this.waiting.get(organizationId)?.waiters ?? [];
    this.waiting.delete(organizationId);
    if (others.length > 0) this.waiting.set(organizationId, { since: this.clock.monotonic(), waiters: others });
    if (first === undefined) throw new Error('The organization has no waiting run');
    return first;
  }

  private leave(organizationId: string, waiter: Waiter): void {
    const { since, waiters } = this.waiting.get(organizationId) ?? { since: 0, waiters: [] };
    const others = waiters.filter((other) => other !== waiter);
    if (others.length > 0) this.waiting.set(organizationId, { since, waiters: others });
    else this.waiting.delete(organizationId);
  }
}
