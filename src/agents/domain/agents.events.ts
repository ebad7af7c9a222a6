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

/** No route returns the agent any more. A job may still be removing its conversations. */
export class AgentDeleted extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly agentId: string,
  ) {
    super();
  }
}
