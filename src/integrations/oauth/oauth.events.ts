import { DomainEvent } from '../../platform/events/index.js';

/** A person signed in to an integration's server, the grant was lost, or the server wants more permissions. */
export class OAuthGrantChanged extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly integrationId: string,
  ) {
    super();
  }
}
