import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import type { DriveSourceKind } from '../domain/drive-source.js';
import { DriveSourceNotFound } from '../domain/drive-errors.js';
import { REMOVE_BATCH, SCHEDULE_BATCH } from '../limits.js';
import { DriveGrants } from './sign-in/drive-grants.js';
import { DriveSignIns } from './sign-in/drive-sign-ins.js';
import { removeDriveSource } from './sync/sync-drive.definition.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { DriveItemRepository } from '../persistence/drive-item.repository.js';
import { DriveSourceRepository, type SourceId } from '../persistence/drive-source.repository.js';

/** Removes sources: at once to those who read, then their documents in batches, then what is left of them. */
@Injectable()
export class RemoveDriveSources implements OnModuleInit {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly items: DriveItemRepository,
    private readonly signIns: DriveSignIns,
    private readonly grants: DriveGrants,
    private readonly index: DocumentIndex,
    private readonly agentData: AgentDataHolders,
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  onModuleInit(): void {
    this.agentData.register({ leftBehind: () => this.leftBehind(), remove: (agent, signal) => this.removeOf(agent, signal) });
  }

  /** @throws DriveSourceNotFound */
  async ofAgent(organizationId: string, agentId: string, kind: DriveSourceKind): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const ids = await this.sources.removeOfKind(transaction, organizationId, agentId, kind);
      if (ids.length === 0) throw new DriveSourceNotFound();
      // Somebody who is just giving his consent would bring back what was removed.
      if (kind === 'sign_in') await this.signIns.removeOpen(transaction, organizationId, agentId);
      await this.enqueue(transaction, organizationId, ids);
    });
  }

  async enqueue(transaction: Transaction, organizationId: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.outbox.enqueue(transaction, removeDriveSource, { organizationId, sourceId: id }, { dedupeKey: id });
  }

  /** Of a source that is marked as removed; of another, nothing. Stands being broken off and repeated. */
  async remove(source: SourceId, signal: AbortSignal): Promise<void> {
    if (!(await this.sources.isRemoved(source))) return;
    for (;;) {
      signal.throwIfAborted();
      const documents = await this.items.documents(source, REMOVE_BATCH);
      if (documents.length === 0) break;
      await this.index.remove(source.organizationId, documents, signal);
      await this.items.forgetDocuments(source, documents);
    }
    await this.database.transaction(async (transaction) => {
      await this.grants.removeSecrets(transaction, source);
      await this.sources.drop(transaction, source);
    });
  }

  private leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.sources.ofGoneAgents(SCHEDULE_BATCH);
  }

  private async removeOf({ organizationId, agentId }: DeletedAgent, signal: AbortSignal): Promise<void> {
    for (const id of await this.sources.removeOfAgent(organizationId, agentId)) await this.remove({ organizationId, id }, signal);
  }
}
