import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import type { AwaitedRun } from './run-ends.js';

/** How often the database is asked for the ends of runs whose logs have had nothing new since the last time. */
const LOOK_MS = 2_000;
/** How long the rest of a log may take to arrive after the end of its run was stored. */
const LATE_MS = 1_000;

/**
 * Finds logs that do not go on although their runs have ended: the process of the run may have lost Redis, or have died
 * and the run was deleted. One statement asks for all runs that this process follows.
 */
@Injectable()
export class SilentLogs implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly followed = new Set<FollowedLog>();
  private isLooking = false;
  private stop: (() => void) | undefined;

  constructor(
    private readonly runs: RunReader,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.stop = this.clock.every(LOOK_MS, () => {
      this.look().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'The ends of runs whose events stay away could not be read');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }

  /**
   * The reader must say when it `waits` and when it has `heard` something, and `leave` at last.
   * @param giveUp called when the log does not go on although the run has ended
   */
  follow({ reference, stored }: AwaitedRun, giveUp: () => void): FollowedLog {
    const log = new FollowedLog(reference.runId, this.clock, giveUp, () => this.followed.delete(log));
    this.followed.add(log);
    if (stored && stored.run.status !== 'running') log.expectEnd();
    return log;
  }

  private async look(): Promise<void> {
    if (this.isLooking) return;
    const silent = [...this.followed].filter((log) => log.wasSilent());
    if (silent.length === 0) return;
    this.isLooking = true;
    try {
      const underWay = await this.runs.underWay([...new Set(silent.map(({ runId }) => runId))]);
      for (const log of silent) if (!underWay.has(log.runId)) log.expectEnd();
    } finally {
      this.isLooking = false;
    }
  }
}

/** A log that is being read. A reader that is slow to take what it was given does not make its log silent. */
class FollowedLog {
  private batches = 0;
  private batchesBefore = -1;
  private isWaiting = true;
  private cancel: (() => void) | undefined;

  constructor(
    readonly runId: string,
    private readonly clock: Clock,
    private readonly giveUp: () => void,
    private readonly onLeave: () => void,
  ) {}

  waits(): void {
    this.isWaiting = true;
  }

  heard(): void {
    this.isWaiting = false;
    this.batches += 1;
  }

  leave(): void {
    this.cancel?.();
    this.onLeave();
  }

  /** @returns whether nothing came since the last call */
  wasSilent(): boolean {
    const isSilent = this.isWaiting && this.batches === this.batchesBefore;
    this.batchesBefore = this.batches;
    return isSilent;
  }

  /** The run has ended: gives up once the log has not gone on for as long as it may take. */
  expectEnd(): void {
    const { batches } = this;
    this.cancel?.();
    this.cancel = this.clock.after(LATE_MS, () => {
      if (this.isWaiting && this.batches === batches) this.giveUp();
      else this.expectEnd();
    });
  }
}
