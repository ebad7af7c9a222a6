import { DomainEvent } from '../../platform/events/index.js';
import type { Integration } from './integration.js';

/** An integration was created, changed or removed, or attached to or detached from agents. */
export class IntegrationChanged extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly integrationId: string,
    /** The agents that use it or used it before the change. */
    readonly agentIds: readonly string[],
  ) {
    super();
  }
}

/** A server has notified that its tool list has changed. */
export class ToolsChanged extends DomainEvent {
  constructor(readonly integration: Integration) {
    super();
  }
}

/** A call failed in a way that suggests an outdated tool list. */
export class CallFailed extends DomainEvent {
  constructor(readonly integration: Integration) {
    super();
  }
}

/** A person signed in to an integration's server, the grant was lost, or the server requires more permissions. */
export class OAuthGrantChanged extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly integrationId: string,
  ) {
    super();
  }
}

/** An integration that did not need it before needs a person to sign in. */
export class AuthorizationNeeded extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly integrationId: string,
    /** The agents that use it. */
    readonly agentIds: readonly string[],
    readonly at: Date,
  ) {
    super();
  }
}

/** A new state of an integration's server has been stored. */
export class IntegrationChecked extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly integrationId: string,
    /** The agents that use it. */
    readonly agentIds: readonly string[],
  ) {
    super();
  }
}
