import { DomainEvent } from '../../../platform/events/index.js';

/** What an agent's knowledge holds has changed, or how it is searched. */
export class KnowledgeChanged extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly agentId: string,
  ) {
    super();
  }
}
