import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import type { DriveSourceKind } from '../domain/drive-source.js';
import { DriveSourceNotFound } from '../domain/drive-errors.js';
import { removeDriveSource } from '../jobs/drive.jobs.js';
import { DriveSourceRepository } from '../persistence/drive-source.repository.js';
import { DriveSignIns } from './sign-in/drive-sign-ins.js';

/** Removes sources: they read as absent at once, and a job removes their documents. */
@Injectable()
export class RemoveDriveSources {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly signIns: DriveSignIns,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws DriveSourceNotFound */
  async ofAgent(organizationId: string, agentId: string, kind: DriveSourceKind): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const ids = await this.sources.remove(transaction, { organizationId, agentId, kind }, this.clock.now());
      if (ids.length === 0) throw new DriveSourceNotFound();
      // A person who is at the consent page would bring back what was removed.
      if (kind === 'sign_in') await this.signIns.removeOpen(transaction, organizationId, agentId);
      await this.enqueue(transaction, organizationId, ids);
    });
  }

  async ofAccount(transaction: Transaction, organizationId: string, accountId: string): Promise<void> {
    await this.enqueue(transaction, organizationId, await this.sources.remove(transaction, { organizationId, accountId }, this.clock.now()));
  }

  private async enqueue(transaction: Transaction, organizationId: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.outbox.enqueue(transaction, removeDriveSource, { organizationId, sourceId: id }, { dedupeKey: id });
  }
}
