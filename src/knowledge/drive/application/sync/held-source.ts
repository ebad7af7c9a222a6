import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import type { ClaimedSource } from '../../domain/drive-source.js';
import { DriveSyncRepository, type SyncProgress } from '../../persistence/drive-sync.repository.js';
import { STEP_LEASE_MS } from '../../limits.js';

/** Somebody has selected other files, or removed the source, or another worker has taken the sync over. */
export class LeaseLost extends Error {}

/** Writes of a step, each of which counts only while the step holds its source. */
@Injectable()
export class HeldSource {
  constructor(
    private readonly syncs: DriveSyncRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @throws LeaseLost */
  write<Result>(source: ClaimedSource, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (transaction) => {
      if (!(await this.syncs.hold(transaction, source))) throw new LeaseLost();
      return work(transaction);
    });
  }

  /** @returns the source as it is from then on. @throws LeaseLost */
  async progress(transaction: Transaction, source: ClaimedSource, changes: Partial<SyncProgress>): Promise<ClaimedSource> {
    const changed = { ...source, ...changes };
    if (!(await this.syncs.progress(transaction, source, changed))) throw new LeaseLost();
    return changed;
  }

  /** Says that the step is alive. @throws LeaseLost */
  async renew(source: ClaimedSource): Promise<void> {
    const until = new Date(this.clock.now().getTime() + STEP_LEASE_MS);
    if (!(await this.syncs.renew(source, until))) throw new LeaseLost();
  }
}
