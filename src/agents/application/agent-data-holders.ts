import { Injectable } from '@nestjs/common';

export interface DeletedAgent {
  readonly organizationId: string;
  readonly agentId: string;
}

/** A table with the columns `agent_id` and `organization_id`. */
export interface AgentTable {
  readonly name: string;
  /** A condition in SQL on the rows. The table has an index of these rows that begins with `agent_id`. */
  readonly where?: string;
}

/**
 * A context that has too many rows for an agent to delete them in one statement. Once the agent is deleted, the context returns
 * none of them; a job removes them.
 */
export interface AgentDataHolder {
  /** Those in which a job looks for rows of deleted agents. */
  readonly tables: readonly AgentTable[];
  /**
   * Removes the rows of a deleted agent in short transactions; keeps those of an agent that exists. May be interrupted at any
   * step and called again, also while another call runs.
   * @throws the reason of `signal` when it aborts
   */
  remove(agent: DeletedAgent, signal: AbortSignal): Promise<void>;
}

/** The holders of all contexts; each registers itself in its constructor. */
@Injectable()
export class AgentDataHolders {
  readonly all: AgentDataHolder[] = [];

  register(holder: AgentDataHolder): void {
    this.all.push(holder);
  }
}
