import { DomainEvent } from '../../platform/events/index.js';
import type { Integration } from './integration.js';

/** An integration was made, changed or removed, or agents use it from now on, or no more. */
export class IntegrationChanged extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly integrationId: string,
    /** Those that use it, and those that did until now. */
    readonly agentIds: readonly string[],
  ) {
    super();
  }
}

/** A server says that its tools are others now. */
export class ToolsChanged extends DomainEvent {
  constructor(readonly integration: Integration) {
    super();
  }
}

/** A call came to nothing in a way that what is known of the server may be over. */
export class CallFailed extends DomainEvent {
  constructor(readonly integration: Integration) {
    super();
  }
}

/** What is known of an integration's server is newer now. */
export class IntegrationChecked extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly integrationId: string,
    /** Those that use it. */
    readonly agentIds: readonly string[],
  ) {
    super();
  }
}
