import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { hasExpired } from '../domain/approval.js';
import { awaitsApproval, type ShownMessage, withExpiredCalls } from '../domain/message.js';
import { RunReader } from '../persistence/run-reader.repository.js';

/**
 * Shows calls whose approval has expired as denied. The database keeps them as waiting until the start of the thread's
 * next run changes them.
 */
@Injectable()
export class ShowExpiredCalls {
  constructor(
    private readonly reader: RunReader,
    private readonly clock: Clock,
  ) {}

  async execute(organizationId: string, message: ShownMessage): Promise<ShownMessage> {
    const now = this.clock.now();
    // A reply is older than the end of its run, so the run of a recent reply need not be read.
    if (message.runId === null || !awaitsApproval(message) || !hasExpired(message.createdAt, now)) return message;
    const askedAt = await this.reader.findEnd(organizationId, message.runId);
    return askedAt !== null && hasExpired(askedAt, now) ? withExpiredCalls(message) : message;
  }
}
