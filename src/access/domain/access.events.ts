import { DomainEvent } from '../../platform/events/index.js';

export class ApiKeyRevoked extends DomainEvent {
  constructor(
    readonly keyId: string,
    /** SHA-256 of the key, in hexadecimal. */
    readonly digest: string,
  ) {
    super();
  }
}

export class OrganizationChanged extends DomainEvent {
  constructor(readonly organizationId: string) {
    super();
  }
}
