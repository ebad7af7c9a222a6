import { DomainEvent } from '../../platform/events/index.js';

export class OrganizationGatewayChanged extends DomainEvent {
  constructor(readonly organizationId: string) {
    super();
  }
}
