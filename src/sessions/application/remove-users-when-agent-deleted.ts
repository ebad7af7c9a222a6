import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { PURGE_BATCH } from '../limits.js';
import { UsersOfDeletedAgents } from '../persistence/users-of-deleted-agents.repository.js';

/**
 * Removes users from the sessions of deleted agents. The sessions themselves stay until they expire, so that the answer to a resume
 * token can say that the agent is missing; their passes open nothing.
 */
@Injectable()
export class RemoveUsersWhenAgentDeleted implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly users: UsersOfDeletedAgents,
    private readonly holders: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.holders.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.users.deletedAgents();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.users.removeSome(agent, PURGE_BATCH));
  }
}
