import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { type Month, monthAfter } from '../domain/period.js';
import { COUNT_ENTRIES, LIST_PERIODS, USED_IN_MONTH } from './credit-periods.sql.js';

export interface MonthUsage {
  readonly month: Month;
  readonly creditsUsed: number;
}

export interface MonthFilter {
  /** When the organization began. */
  readonly since: Date;
  readonly now: Date;
  /** Only months before this one; null for all. */
  readonly before: Month | null;
  readonly limit: number;
}

/** What organizations have used by the month: the sums that are kept, and the entries that are not yet part of them. */
@Injectable()
export class CreditPeriodRepository {
  constructor(private readonly database: Database) {}

  /** The newest first. */
  async list(organizationId: string, filter: MonthFilter): Promise<MonthUsage[]> {
    const rows = await LIST_PERIODS.run<{ month: string; credits: string }>(this.database, {
      organizationId,
      ...filter,
    });
    return rows.map(({ month, credits }) => ({
      month: new Date(`${month}T00:00:00.000Z`),
      creditsUsed: Number(credits),
    }));
  }

  async usedIn(organizationId: string, month: Month): Promise<number> {
    const months = { month, next: monthAfter(month) };
    const [row] = await USED_IN_MONTH.run<{ credits: string }>(this.database, { organizationId, ...months });
    return Number(row?.credits ?? 0);
  }

  /**
   * Adds some entries to the sums of their months, in a transaction of its own.
   * @returns how many, at most `limit`
   */
  async countSome(limit: number): Promise<number> {
    const [row] = await COUNT_ENTRIES.run<{ entries: number }>(this.database, { limit });
    return row?.entries ?? 0;
  }
}
