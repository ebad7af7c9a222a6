import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { lockAgent } from './lock-agent.sql.js';
import {
  AGENTS_WITH_OLD_VERSIONS,
  MOVE_PARTS,
  OLDEST_LEFT,
  REMOVE_UNUSED_TEXTS,
  REMOVE_VERSIONS_BEFORE,
} from './old-versions.sql.js';

/** The versions before the newest ones of an agent. */
@Injectable()
export class OldVersionsRepository {
  constructor(private readonly database: Database) {}

  /** The agents that have more versions than `kept`. */
  agents(kept: number): Promise<AgentReference[]> {
    return AGENTS_WITH_OLD_VERSIONS.run(this.database, { kept });
  }

  /**
   * Removes the large texts that no version uses any more. Before the versions, so that texts of versions go with the next run of
   * the job: a list of versions may just be reading them.
   */
  removeUnusedTexts(organizationId: string, agentId: string): Promise<void> {
    return this.database.transaction(async (transaction) => {
      // Writes of the agent wait: they may refer to a text that is unused so far.
      if ((await lockAgent(transaction, organizationId, agentId, 'exclusive')) === null) return;
      await REMOVE_UNUSED_TEXTS.run(transaction, { organizationId, agentId });
    });
  }

  /**
   * Removes the oldest versions, but not the newest `kept`, and at most `limit`. Versions that stay can be restored as before: the oldest
   * of them takes over the parts that it has from removed ones.
   * @returns how many
   */
  removeSome(organizationId: string, agentId: string, { kept, limit }: RemovalBounds): Promise<number> {
    return this.database.transaction(async (transaction) => {
      if ((await lockAgent(transaction, organizationId, agentId, 'exclusive')) === null) return 0;
      const agent = { organizationId, agentId };
      const [left] = await OLDEST_LEFT.run<{ version: number }>(transaction, { ...agent, kept, limit });
      if (!left) return 0;
      await MOVE_PARTS.run(transaction, { ...agent, ...left });
      return (await REMOVE_VERSIONS_BEFORE.run(transaction, { ...agent, ...left })).length;
    });
  }
}

export interface AgentReference {
  readonly organizationId: string;
  readonly agentId: string;
}

export interface RemovalBounds {
  readonly kept: number;
  readonly limit: number;
}
