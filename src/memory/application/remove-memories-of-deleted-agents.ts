import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { REMOVED_AT_ONCE } from '../limits.js';
import { REMOVE_SOME_OF_DELETED_AGENT } from '../persistence/memories.sql.js';

/** Removes the memories of deleted agents of all organizations. */
@Injectable()
export class RemoveMemoriesOfDeletedAgents implements AgentDataHolder {
  readonly tables = [{ name: 'memories' }];

  constructor(
    private readonly database: Database,
    holders: AgentDataHolders,
  ) {
    holders.register(this);
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    const some = { ...agent, limit: REMOVED_AT_ONCE };
    do signal.throwIfAborted();
    while ((await REMOVE_SOME_OF_DELETED_AGENT.run(this.database, some)).length === REMOVED_AT_ONCE);
  }
}
