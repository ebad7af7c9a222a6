import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { type Month, monthAfter } from '../domain/period.js';
import { COUNT_ENTRIES, LIST_PERIODS, MARK_EXHAUSTED, USED_IN_MONTH } from './credit-periods.sql.js';

export interface MonthUsage {
  readonly month: Month;
  readonly creditsUsed: number;
}

export interface ExhaustedMonth {
  readonly organizationId: string;
  readonly month: Month;
}

export interface MonthFilter {
  /** When the organization was created. */
  readonly since: Date;
  readonly now: Date;
  /** Only months before this; null for all. */
  readonly before: Month | null;
  readonly limit: number;
}

/** The usage of organizations per month: stored sums plus the entries that are not counted in them yet. */
@Injectable()
export class CreditPeriodRepository {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async list(organizationId: string, filter: MonthFilter): Promise<MonthUsage[]> {
    const rows = await LIST_PERIODS.run<{ month: string; credits: string }>(this.database, {
      organizationId,
      ...filter,
    });
    return rows.map(({ month, credits }) => ({
      month: toMonth(month),
      creditsUsed: Number(credits),
    }));
  }

  async usedIn(organizationId: string, month: Month): Promise<number> {
    const months = { month, next: monthAfter(month) };
    const [row] = await USED_IN_MONTH.run<{ credits: string }>(this.database, { organizationId, ...months });
    return Number(row?.credits ?? 0);
  }

  /** Adds up to `limit` uncounted entries to the sums of their months, in one transaction. @returns how many */
  async countSome(limit: number): Promise<number> {
    const [row] = await COUNT_ENTRIES.run<{ entries: number }>(this.database, { limit });
    return row?.entries ?? 0;
  }

  /** Marks the months since `since`, of any organization, whose counted entries have used up the included credits. @returns the newly marked ones */
  async markExhausted(transaction: Transaction, since: Month, now: Date): Promise<ExhaustedMonth[]> {
    const rows = await MARK_EXHAUSTED.run<{ organization_id: string; month: string }>(transaction, { since, now });
    return rows.map(({ organization_id: organizationId, month }) => ({ organizationId, month: toMonth(month) }));
  }
}

function toMonth(day: string): Month {
  return new Date(`${day}T00:00:00.000Z`);
}
