import { Injectable } from '@nestjs/common';

export interface DeletedAgent {
  readonly organizationId: string;
  readonly agentId: string;
}

/**
 * A context that has too many rows for an agent to delete them in one statement. Once the agent is deleted, the context returns
 * none of them; a job removes them.
 */
export interface AgentDataHolder {
  /** The deleted agents that still have rows here. */
  deletedAgents(): Promise<readonly DeletedAgent[]>;
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
