import { DomainEvent } from '../../platform/events/index.js';

/** An organization has used up the credits that a month includes; once for each month. */
export class PeriodExhausted extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly periodId: string,
    readonly at: Date,
  ) {
    super();
  }
}
