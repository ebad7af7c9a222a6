import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { PURGE_BATCH } from '../limits.js';
import { SessionRepository } from '../persistence/session.repository.js';

/**
 * Removes users from the sessions of deleted agents. The sessions themselves stay until they expire, so that the answer to a resume
 * token can say that the agent is missing; their passes open nothing.
 */
@Injectable()
export class RemoveUsersWhenAgentDeleted implements AgentDataHolder {
  readonly tables = [{ name: 'sessions', where: 'user_key is not null' }];

  constructor(
    private readonly sessions: SessionRepository,
    holders: AgentDataHolders,
  ) {
    holders.register(this);
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.sessions.removeSomeUsers(agent, PURGE_BATCH));
  }
}
