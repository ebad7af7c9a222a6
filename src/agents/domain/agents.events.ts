import { DomainEvent } from '../../platform/events/index.js';

export class AgentChanged extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly agentId: string,
    readonly version: number,
  ) {
    super();
  }
}

/** The agent and every row that refers to it are gone. */
export class AgentDeleted extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly agentId: string,
  ) {
    super();
  }
}
