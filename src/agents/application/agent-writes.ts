import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/index.js';
import type { AgentType } from '../domain/agent-type.js';
import { VersionedWrite, type WriteTarget, type Written } from './versioned-write.js';

/** The agent as it stands while a write holds it. */
export interface LockedAgent {
  readonly id: string;
  readonly organizationId: string;
  readonly type: AgentType;
  /** Before the write. */
  readonly version: number;
}

/** How other contexts write what belongs to an agent and has versions; see `VersionedPart`. */
@Injectable()
export class AgentWrites {
  constructor(private readonly writes: VersionedWrite) {}

  /**
   * Opens a transaction, locks the agent and runs `work` in it. Changes that `work` reports become one version
   * of the agent, in the same transaction; none leave the agent as it is. `AgentChanged` is published after the
   * commit. A deadlock is tried again, so `work` must not have effects outside the database.
   * @returns the result of `work` and the agent's version after it
   * @throws AgentNotFound; VersionConflict (`409 version_conflict`) when `ifMatch` does not hold the version
   */
  async change<Result>(
    target: WriteTarget,
    work: (transaction: Transaction, agent: LockedAgent) => Promise<Written<Result>>,
  ): Promise<{ result: Result; version: number }> {
    const { result, agent } = await this.writes.run(target, work);
    return { result, version: agent.version };
  }
}
