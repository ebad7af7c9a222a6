import { derivedId, momentOf } from '../../platform/ids/index.js';

/** The first moment of a calendar month in UTC. */
export type Month = Date;

/** The usage of an organization in one month. */
export interface Period {
  /** Derived from the organization and the month, so that months without use have ids too. */
  readonly id: string;
  readonly startsAt: Month;
  /** The start of the next month. */
  readonly endsAt: Month;
  /** The exact sum of its entries, with four decimals. */
  readonly creditsUsed: number;
  /** The setting at the end of the month, or now; null if none was set. */
  readonly creditsIncluded: number | null;
}

export function monthOf(moment: Date): Month {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth()));
}

export function monthAfter(month: Month): Month {
  return new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1));
}

export function monthsBefore(month: Month, count: number): Month {
  return new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() - count));
}

export function periodId(organizationId: string, month: Month): string {
  return derivedId(month, ['credits', organizationId]);
}

/** @returns the month of the period; null if the organization has no such period */
export function monthOfPeriod(organizationId: string, id: string): Month | null {
  const month = monthOf(momentOf(id));
  return periodId(organizationId, month) === id ? month : null;
}
