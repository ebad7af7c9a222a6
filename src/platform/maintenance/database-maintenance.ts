import type { PGlite } from '@electric-sql/pglite';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { OPEN_DATABASE, type OpenDatabase } from '../database/index.js';
import { BackgroundPace } from '../http/index.js';
import { Logger } from '../telemetry/index.js';
import { checkpoint, dueTables, isCheckpointDue, tidy } from './embedded-database.js';
import { LOOK_EVERY_MS } from './limits.js';

/**
 * Does for the embedded database what a PostgreSQL server does in processes of its own, which PGlite has none of. Without vacuums
 * every changed or deleted row stays in its table and indexes for ever, and searches read all of them; without checkpoints the log of
 * changes grows for as long as the process lives, and is read from its beginning after a kill.
 */
@Injectable()
export class DatabaseMaintenance implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly pglite: PGlite | undefined;
  private stopLooking: () => void = () => undefined;
  private looking: Promise<void> | undefined;
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
    if (pglite) this.stopLooking = this.clock.every(LOOK_EVERY_MS, () => void this.look(pglite));
  }

  /** While the database is still there. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.stopLooking();
    await this.looking;
  }

  private async look(pglite: PGlite): Promise<void> {
    this.looking ??= this.attempt('a look', () => this.doWhatIsDue(pglite)).finally(() => {
      this.looking = undefined;
    });
    await this.looking;
  }

  private async doWhatIsDue(pglite: PGlite): Promise<void> {
    for (const table of await dueTables(pglite)) {
      if (this.isStopping) return;
      if (table.canWait && !this.pace.isIdle) continue;
      await this.attempt(table.name, () => this.pace.run(() => tidy(pglite, table)));
    }
    if (this.isStopping || !(await isCheckpointDue(pglite))) return;
    await this.pace.run(() => checkpoint(pglite));
  }

  /** A table that cannot be tidied must not keep the others from it, nor the log from being shortened. */
  private async attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn({ err: error, what }, 'The embedded database could not be tidied');
    }
  }
}
