import { DomainEvent } from '../../platform/events/index.js';

/** The organization's gateway was set, changed or removed. */
export class OrganizationGatewayChanged extends DomainEvent {
  constructor(readonly organizationId: string) {
    super();
  }
}
