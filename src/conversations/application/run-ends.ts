import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { callerDisconnected, runNotFound } from '../domain/conversations.errors.js';
import type { RunReference } from '../domain/run.js';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import { RunSignals } from './run-signals.js';

/** How often a run of another process is read until it has ended, unless that process says so earlier. */
const POLL_MS = 500;
/** For how long the database may be unreadable: longer than a process keeps an end that it cannot store. */
const UNREADABLE_MS = 150_000;

/** A run of another process, as one caller that waits for its end knows it. */
export interface AwaitedRun {
  readonly reference: RunReference;
  /** As it was read last; null before the first time. */
  stored: StoredRun | null;
  /** When the database was last readable, by `Clock.monotonic()`. */
  readAt: number;
}

/** Waits for the ends of runs that other processes execute. */
@Injectable()
export class RunEnds {
  constructor(
    private readonly runs: RunReader,
    private readonly signals: RunSignals,
    private readonly clock: Clock,
  ) {}

  expect(reference: RunReference, stored: StoredRun | null): AwaitedRun {
    return { reference, stored, readAt: this.clock.monotonic() };
  }

  /**
   * The reconciler ends a run whose process has died, so every run ends. A run that was deleted meanwhile has ended as
   * cancelled.
   * @returns null when it has not ended after `forMs`
   * @throws DomainError `not_found`, `gone` when the caller disconnected; DatabaseUnavailable
   */
  async wait(awaited: AwaitedRun, signal: AbortSignal | undefined, forMs: number): Promise<StoredRun | null> {
    const until = this.clock.monotonic() + forMs;
    const alarm = new Alarm(this.clock);
    const ring = (): void => alarm.ring();
    const stop = this.signals.expectEnd(awaited.reference, ring);
    signal?.addEventListener('abort', ring, { once: true });
    try {
      for (;;) {
        if (signal?.aborted === true) throw callerDisconnected();
        const ended = await this.read(awaited);
        if (ended ?? this.clock.monotonic() >= until) return ended;
        await alarm.sleep(POLL_MS);
      }
    } finally {
      signal?.removeEventListener('abort', ring);
      stop();
    }
  }

  /** @returns null while the run is under way, and while the database cannot be read */
  private async read(awaited: AwaitedRun): Promise<StoredRun | null> {
    const { organizationId, threadId, runId } = awaited.reference;
    try {
      // The whole run has the tools' outputs so far, so it is read before the wait and after the end.
      const isUnderWay = awaited.stored !== null && (await this.runs.underWay([runId])).has(runId);
      if (isUnderWay) {
        awaited.readAt = this.clock.monotonic();
        return null;
      }
      const stored = await this.runs.find(organizationId, threadId, runId);
      awaited.readAt = this.clock.monotonic();
      if (!stored?.threadExists) return this.deleted(awaited.stored);
      awaited.stored = stored;
      return stored.run.status === 'running' ? null : stored;
    } catch (error) {
      const isShort = this.clock.monotonic() - awaited.readAt <= UNREADABLE_MS;
      if (error instanceof DatabaseUnavailable && isShort) return null;
      throw error;
    }
  }

  private deleted(last: StoredRun | null): StoredRun {
    if (!last) throw runNotFound();
    const run = { ...last.run, status: 'cancelled', completedAt: this.clock.now() } as const;
    return { ...last, run, message: null, threadExists: false };
  }
}

/** A sleep that ends early when it rings, also when it rang before the sleep began. */
class Alarm {
  private rang = false;
  private sleeping: AbortController | undefined;

  constructor(private readonly clock: Clock) {}

  ring(): void {
    this.rang = true;
    this.sleeping?.abort();
  }

  async sleep(ms: number): Promise<void> {
    if (!this.rang) {
      this.sleeping = new AbortController();
      await this.clock.sleep(ms, this.sleeping.signal).catch(() => undefined);
    }
    this.rang = false;
  }
}
