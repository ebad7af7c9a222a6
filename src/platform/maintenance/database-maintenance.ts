import type { PGlite } from '@electric-sql/pglite';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { OPEN_DATABASE, type OpenDatabase } from '../database/index.js';
import { BackgroundPace } from '../http/index.js';
import { Logger } from '../telemetry/index.js';
import { checkpoint, dueTables, isCheckpointDue, vacuumOrAnalyze } from './embedded-database.js';
import { CHECK_EVERY_MS } from './limits.js';

/**
 * Does the work of PostgreSQL's background processes, which PGlite lacks. Without vacuums every changed or deleted row stays in its
 * table and indexes, and searches read it; without checkpoints the write-ahead log grows until the process ends, and is replayed
 * completely after a kill.
 */
@Injectable()
export class DatabaseMaintenance implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly pglite: PGlite | undefined;
  private stopChecking: () => void = () => undefined;
  private checking: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    @Inject(OPEN_DATABASE) { native }: OpenDatabase,
    private readonly pace: BackgroundPace,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.pglite = native.kind === 'embedded' ? native.pglite : undefined;
  }

  onApplicationBootstrap(): void {
    const { pglite } = this;
    if (pglite) this.stopChecking = this.clock.every(CHECK_EVERY_MS, () => void this.check(pglite));
  }

  /** Before the database is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.stopChecking();
    await this.checking;
  }

  private async check(pglite: PGlite): Promise<void> {
    this.checking ??= this.attempt('the check', () => this.maintain(pglite)).finally(() => {
      this.checking = undefined;
    });
    await this.checking;
  }

  private async maintain(pglite: PGlite): Promise<void> {
    for (const table of await dueTables(pglite)) {
      if (this.isStopping) return;
      if (table.canWait && !this.pace.isIdle) continue;
      await this.attempt(table.name, () => this.pace.run(() => vacuumOrAnalyze(pglite, table)));
    }
    if (this.isStopping || !(await isCheckpointDue(pglite))) return;
    await this.pace.run(() => checkpoint(pglite));
  }

  /** A table that fails must prevent neither the maintenance of others nor the checkpoint. */
  private async attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn({ err: error, what }, 'The maintenance of the embedded database failed');
    }
  }
}
