import { DomainEvent } from '../../../../../src/platform/events/index.js';

export class GlossaryChanged extends DomainEvent {
  constructor(readonly organizationId: string) {
    super();
  }
}
