import { Injectable } from '@nestjs/common';

export interface DeletedAgent {
  readonly organizationId: string;
  readonly agentId: string;
}

/**
 * A context with so many rows for an agent that they cannot go with the agent's own in one statement. From the
 * agent's deletion on it answers as if they were gone; a job has them removed.
 */
export interface AgentDataHolder {
  /** Agents that are gone, and of which something is left. */
  leftBehind(): Promise<readonly DeletedAgent[]>;
  /**
   * Removes what is left of an agent that is gone, in short transactions; nothing of one that is there. Stands being
   * broken off at any point and called again, also while another call is at it.
   * @throws the signal's reason once that is aborted
   */
  remove(agent: DeletedAgent, signal: AbortSignal): Promise<void>;
}

/** The holders of all contexts; each registers itself in `onModuleInit`. */
@Injectable()
export class AgentDataHolders {
  private readonly registered: AgentDataHolder[] = [];

  get all(): readonly AgentDataHolder[] {
    return this.registered;
  }

  register(holder: AgentDataHolder): void {
    this.registered.push(holder);
  }
}
