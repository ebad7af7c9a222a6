import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/index.js';
import type { AgentType } from '../domain/agent-type.js';
import { VersionedWrite, type WriteTarget, type Written } from './versioned-write.js';

/** The agent that a write has locked. */
export interface LockedAgent {
  readonly id: string;
  readonly organizationId: string;
  readonly type: AgentType;
  /** Before the write. */
  readonly version: number;
}

/** Writes of other contexts to their versioned parts of an agent; see `VersionedPart`. */
@Injectable()
export class AgentWrites {
  constructor(private readonly writes: VersionedWrite) {}

  /**
   * Opens a transaction, locks the agent and runs `work`. The changes that `work` returns become one version of the agent, in the
   * same transaction; without changes there is no version. `AgentChanged` is published after the commit. `work` runs again after
   * a deadlock, so it must not have effects outside the database.
   * @returns the result of `work` and the agent's version after it
   * @throws AgentNotFound; VersionConflict when `ifMatch` lacks the agent's version
   */
  async change<Result>(
    target: WriteTarget,
    work: (transaction: Transaction, agent: LockedAgent) => Promise<Written<Result>>,
  ): Promise<{ result: Result; version: number }> {
    const { result, agent } = await this.writes.run(target, work);
    return { result, version: agent.version };
  }
}
