import { derivedId, momentOf } from '../../platform/ids/index.js';

/** A calendar month in UTC, by its first moment. */
export type Month = Date;

/** What an organization has used in one month. */
export interface Period {
  /** Follows from the organization and the month, so that a month without any use has one too. */
  readonly id: string;
  readonly startsAt: Month;
  /** Not part of it: where the next one starts. */
  readonly endsAt: Month;
  /** The exact sum of its entries, to four decimals. */
  readonly creditsUsed: number;
  /** What held at its end, or holds now; null where nothing was set. */
  readonly creditsIncluded: number | null;
}

export function monthOf(moment: Date): Month {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth()));
}

export function monthAfter(month: Month): Month {
  return new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1));
}

export function periodId(organizationId: string, month: Month): string {
  return derivedId(month, ['credits', organizationId]);
}

/** @returns the month of the organization's period; null where the organization has no such period */
export function monthOfPeriod(organizationId: string, id: string): Month | null {
  const month = monthOf(momentOf(id));
  return periodId(organizationId, month) === id ? month : null;
}
