import { Injectable } from '@nestjs/common';
import { AgentDataHolders, type DeletedAgent, lockAgent } from '../../../agents/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import type { SourceId } from '../domain/drive-source.js';
import { REMOVE_BATCH } from '../limits.js';
import { DriveItemRepository } from '../persistence/drive-item.repository.js';
import { DriveSourceRepository } from '../persistence/drive-source.repository.js';
import { DriveGrants } from './sign-in/drive-grants.js';

/** Deletes sources that are marked as removed, and those of deleted agents: their documents in batches, then the source. */
@Injectable()
export class DiscardDriveSource {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly items: DriveItemRepository,
    private readonly grants: DriveGrants,
    private readonly index: DocumentIndex,
    agentData: AgentDataHolders,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    agentData.register({
      tables: [{ name: 'drive_sources', where: 'removed_at is null' }],
      remove: (agent, signal) => this.removeOf(agent, signal),
    });
  }

  /** The source is marked as removed. May be interrupted at any step: a second run continues. */
  async execute(source: SourceId, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const documents = await this.items.documents(source, REMOVE_BATCH);
      if (documents.length === 0) break;
      await this.index.remove(source.organizationId, documents, signal);
      await this.items.deleteWithDocuments(source, documents);
    }
    await this.database.transaction(async (transaction) => {
      await this.grants.removeSecrets(transaction, source);
      await this.sources.delete(transaction, source);
    });
  }

  private async removeOf({ organizationId, agentId }: DeletedAgent, signal: AbortSignal): Promise<void> {
    const isDeleted = await this.database.transaction(async (transaction) => {
      if ((await lockAgent(transaction, organizationId, agentId, 'exclusive')) !== null) return false;
      await this.sources.markRemoved(transaction, { organizationId, agentId }, this.clock.now());
      return true;
    });
    if (!isDeleted) return;
    for (const source of await this.sources.removedOf(organizationId, agentId)) await this.execute(source, signal);
  }
}
