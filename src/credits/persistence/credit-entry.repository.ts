import { Injectable } from '@nestjs/common';
import { Database, type TableRow, tableRow } from '../../platform/database/index.js';
import type { CreditEntry } from '../domain/entry.js';
import { type Month, monthAfter } from '../domain/period.js';
import { PURGE_ENTRIES } from './credit-periods.sql.js';
import { creditEntries } from './credits.schema.js';

export interface EntryFilter {
  /** Null for all months. */
  readonly month: Month | null;
  /** The last entry of the previous page, which is within the month. */
  readonly after: { readonly createdAt: Date; readonly id: string } | null;
  readonly limit: number;
}

@Injectable()
export class CreditEntryRepository {
  constructor(private readonly database: Database) {}

  /** Deletes counted entries of all organizations from before `before`, at most `limit`. @returns how many */
  async purgeSome(before: Date, limit: number): Promise<number> {
    return (await PURGE_ENTRIES.run(this.database, { before, limit })).length;
  }

  /** Newest first. */
  async list(organizationId: string, { month, after, limit }: EntryFilter): Promise<CreditEntry[]> {
    const since = month ? { $gte: month } : {};
    // A page's position is within the month, so the month's end is not needed beside it.
    const until = after ? { $lte: after.createdAt } : month ? { $lt: monthAfter(month) } : {};
    const where = {
      organizationId,
      ...(month || after ? { createdAt: { ...since, ...until } } : {}),
      // Not this condition alone: PostgreSQL starts the scan of the index at `$lte`.
      ...(after ? { $or: [{ createdAt: { $lt: after.createdAt } }, { id: { $lt: after.id } }] } : {}),
    };
    const entries = await this.database.read((em) =>
      em.find(creditEntries, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit, disableIdentityMap: true }),
    );
    return entries.map(({ id, createdAt, agentId, threadId, provider, model, credits, ...entry }) => {
      const { inputTokens, outputTokens, cachedInputTokens } = entry;
      const tokens = { inputTokens, outputTokens, cachedInputTokens };
      return { id, createdAt, agentId, threadId, provider, model, ...tokens, credits: Number(credits) };
    });
  }
}

/** The entry of a run or of suggestions, as the row that is inserted together with their result. */
export function entryRow(organizationId: string, { credits, ...entry }: CreditEntry): TableRow {
  return tableRow(creditEntries, { ...entry, organizationId, credits: credits.toFixed(4), counted: false });
}
