import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { hasExpired } from '../domain/approval.js';
import { type Message, withExpiredCalls } from '../domain/message.js';
import type { Run, RunReference } from '../domain/run.js';
import { JoinRun } from './join-run.js';

/** A run whose `approvals` are only those that can still be answered. */
export interface CurrentRun {
  readonly run: Run;
  readonly message: Message | null;
}

/** Reads a run with its reply. */
@Injectable()
export class ReadRun {
  constructor(
    private readonly joinRun: JoinRun,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` */
  async execute(reference: RunReference): Promise<CurrentRun> {
    const { run, message, unanswered } = await this.joinRun.read(reference);
    if (!unanswered || run.completedAt === null) return { run: { ...run, approvals: [] }, message };
    if (!hasExpired(run.completedAt, this.clock.now())) return { run, message };
    return { run: { ...run, approvals: [] }, message: message && withExpiredCalls(message) };
  }
}
