import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Database } from '../database/index.js';
import { newId } from '../ids/index.js';
import { FORGOTTEN_AFTER_MS, PRESENT_MS } from './limits.js';
import { COUNT, REPORT, RETIRE } from './worker-presence.sql.js';

/**
 * Which processes work on jobs. They report in the database, and not in the queue, so that any process can tell their absence:
 * a dead worker counts nothing itself.
 */
@Injectable()
export class WorkerPresence {
  private readonly id = newId();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async report(): Promise<void> {
    const [now, forgottenBefore] = [this.clock.now(), this.before(FORGOTTEN_AFTER_MS)];
    await REPORT.run(this.database, { id: this.id, now, forgottenBefore });
  }

  /** The process stops. */
  async retire(): Promise<void> {
    await RETIRE.run(this.database, { id: this.id });
  }

  /** The processes of the installation that have reported lately. */
  async count(): Promise<number> {
    const [row] = await COUNT.run<{ workers: number }>(this.database, { since: this.before(PRESENT_MS) });
    return row?.workers ?? 0;
  }

  private before(ms: number): Date {
    return new Date(this.clock.now().getTime() - ms);
  }
}
