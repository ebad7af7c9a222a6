import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { PURGE_BATCH } from '../limits.js';
import { UsersOfDeletedAgents } from '../persistence/users-of-deleted-agents.repository.js';

/**
 * Sessions end with their agent: no pass reaches anything, and what they know of their users goes. What is left until
 * they expire lets their resume tokens be answered with what is missing.
 */
@Injectable()
export class ForgetUsersWhenAgentDeleted implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly users: UsersOfDeletedAgents,
    private readonly holders: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.holders.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.users.agents();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.users.forgetSome(agent, PURGE_BATCH));
  }
}
