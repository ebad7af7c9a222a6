import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { DatabaseOutage } from '../engine/database-outage.js';
import { LATE_START_LOOKS, LATE_START_MS, MAX_LOST_STARTS, OUTAGE_MS } from '../engine/limits.js';
import { RunOwner } from '../engine/run-owner.js';
import { type LateStartedRun, RunRepository, type StartedRun } from '../persistence/run.repository.js';
import type { ActiveRun } from './run-supervisor.js';

export interface LateStart {
  /** Executes the run. Must not throw. */
  readonly execute: (started: StartedRun) => ActiveRun;
  /** Called instead when the run was not found, or will be ended. */
  readonly giveUp: () => void;
}

/**
 * Starts that the database may have stored although it gave no answer. The caller got `503`. When the caller repeats the
 * request under its `Idempotency-Key`, on any replica, it joins the stored run; so this process executes the run as soon
 * as it finds it, as if the answer had come late.
 */
@Injectable()
export class LateStarts {
  private readonly expected = new Map<string, LateStart & { readonly since: number; looks: number }>();
  private isLooking = false;

  constructor(
    private readonly runs: RunRepository,
    private readonly owner: RunOwner,
    private readonly outage: DatabaseOutage,
    private readonly shutdown: ShutdownState,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @returns false, expecting nothing, when too many are expected already */
  expect(runId: string, start: LateStart): boolean {
    if (this.expected.size >= MAX_LOST_STARTS) return false;
    this.expected.set(runId, { ...start, since: this.clock.monotonic(), looks: 0 });
    this.owner.lateStarts.add(runId);
    if (!this.isLooking) void this.lookUntilNone();
    return true;
  }

  /** Nothing is awaited between the last check and the end, so that no start is expected in between and given up at once. */
  private async lookUntilNone(): Promise<void> {
    this.isLooking = true;
    try {
      while (this.expected.size > 0 && !this.shutdown.isStopping) {
        await this.look().catch((error: unknown) => {
          this.giveUpOld(error);
        });
        if (this.expected.size > 0) await this.clock.sleep(LATE_START_MS);
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'Runs whose start was lost could not be looked for');
    } finally {
      this.isLooking = false;
      for (const id of this.expected.keys()) this.take(id)?.giveUp();
    }
  }

  /** Repeatedly, since a statement may still be under way when the database is back. */
  private async look(): Promise<void> {
    const looked = [...this.expected];
    const found = await this.outage.outlast({}, () => this.runs.findLateStarts(looked.map(([id]) => id)));
    if (this.shutdown.isStopping) return;
    for (const [id, start] of looked) {
      const started = found.get(id);
      start.looks += 1;
      if (started) this.begin(id, started);
      else if (start.looks >= LATE_START_LOOKS) this.take(id)?.giveUp();
    }
  }

  private begin(id: string, { isCancelled, ...started }: LateStartedRun): void {
    const run = this.take(id)?.execute(started);
    // Nothing told this process of the request: it did not have the run yet.
    if (isCancelled) run?.abort('cancel_requested');
  }

  /** Those that came later may still be found. @throws `error` when another than a long outage */
  private giveUpOld(error: unknown): void {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    const oldest = this.clock.monotonic() - OUTAGE_MS;
    for (const [id, { since }] of this.expected) if (since <= oldest) this.take(id)?.giveUp();
  }

  private take(runId: string): LateStart | undefined {
    const start = this.expected.get(runId);
    this.expected.delete(runId);
    this.owner.lateStarts.delete(runId);
    return start;
  }
}
