import { Injectable } from '@nestjs/common';
import { AgentNotFound } from '../../../agents/index.js';
import { Clock } from '../../../platform/clock/index.js';
import type { Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { syncDrive } from '../jobs/drive.jobs.js';
import { DriveSourceRepository, type Selection } from '../persistence/drive-source.repository.js';

/** Stores what was selected and begins its sync; one that is under way is superseded. */
@Injectable()
export class BeginDriveSync {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @returns the source's id. @throws AgentNotFound */
  async execute(transaction: Transaction, selection: Selection): Promise<string> {
    const { organizationId, agentId } = selection;
    if (!(await this.sources.lockAgent(transaction, organizationId, agentId))) throw new AgentNotFound();
    const id = await this.sources.put(transaction, selection, this.clock.now());
    await this.outbox.enqueue(transaction, syncDrive, { organizationId, sourceId: id }, { dedupeKey: id });
    return id;
  }
}
