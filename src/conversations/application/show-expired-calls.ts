import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { hasExpired } from '../domain/approval.js';
import { awaitsApproval, type ShownMessage, withExpiredCalls } from '../domain/message.js';
import { RunReader } from '../persistence/run-reader.repository.js';

/** Calls that can no longer be approved are stored as declined with the thread's next run; until then reads show them so. */
@Injectable()
export class ShowExpiredCalls {
  constructor(
    private readonly reader: RunReader,
    private readonly clock: Clock,
  ) {}

  async execute(organizationId: string, message: ShownMessage): Promise<ShownMessage> {
    const now = this.clock.now();
    // A reply begins before its run ends, so one that is younger cannot have expired, and its run is not looked up.
    if (message.runId === null || !awaitsApproval(message) || !hasExpired(message.createdAt, now)) return message;
    const askedAt = await this.reader.endOf(organizationId, message.runId);
    return askedAt !== null && hasExpired(askedAt, now) ? withExpiredCalls(message) : message;
  }
}
