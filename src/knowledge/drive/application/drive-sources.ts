import { Injectable } from '@nestjs/common';
import { AgentNotFound, lockAgent } from '../../../agents/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import { DriveSourceNotFound } from '../domain/drive-errors.js';
import type { DriveSourceKind } from '../domain/drive-source.js';
import { removeDriveSource, syncDrive } from '../jobs/drive.jobs.js';
import type { StoredDriveSource } from '../persistence/drive.entities.js';
import { DriveItemRepository } from '../persistence/drive-item.repository.js';
import { DriveSourceRepository, type Selection } from '../persistence/drive-source.repository.js';
import { DriveSignIns } from './sign-in/drive-grants.js';

export type ReadSource = StoredDriveSource & StoreUsage;

/** The drive sources of agents. A removed source is no longer found; a job removes its documents. */
@Injectable()
export class DriveSources {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly items: DriveItemRepository,
    private readonly signIns: DriveSignIns,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws DriveSourceNotFound */
  async read(organizationId: string, agentId: string, kind: DriveSourceKind): Promise<ReadSource> {
    const source = await this.sources.find(organizationId, agentId, kind);
    if (!source) throw new DriveSourceNotFound();
    return { ...source, ...(await this.items.usage(source)) };
  }

  /** Stores a selection and starts its sync, which replaces one in progress. @returns the source's id. @throws AgentNotFound */
  async select(transaction: Transaction, selection: Selection): Promise<string> {
    const { organizationId, agentId } = selection;
    if ((await lockAgent(transaction, organizationId, agentId, 'exclusive')) === null) throw new AgentNotFound();
    const id = await this.sources.put(transaction, selection, this.clock.now());
    await this.outbox.enqueue(transaction, syncDrive, { organizationId, sourceId: id }, { dedupeKey: id });
    return id;
  }

  /** @throws DriveSourceNotFound */
  async remove(organizationId: string, agentId: string, kind: DriveSourceKind): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const removed = await this.removeAll(transaction, { organizationId, agentId, kind });
      if (removed === 0) throw new DriveSourceNotFound();
      // A person who is at the consent page now would create the source again.
      if (kind === 'sign_in') await this.signIns.removeOpen(transaction, organizationId, agentId);
    });
  }

  /** @returns how many there were */
  async removeAll(
    transaction: Transaction,
    where: Parameters<DriveSourceRepository['markRemoved']>[1],
  ): Promise<number> {
    const ids = await this.sources.markRemoved(transaction, where, this.clock.now());
    const { organizationId } = where;
    for (const id of ids)
      await this.outbox.enqueue(transaction, removeDriveSource, { organizationId, sourceId: id }, { dedupeKey: id });
    return ids.length;
  }
}
