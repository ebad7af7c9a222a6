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

/** The agent is gone, and nothing of it can be read any more; its conversations are being removed. */
export class AgentDeleted extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly agentId: string,
  ) {
    super();
  }
}
