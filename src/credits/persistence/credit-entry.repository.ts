import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import {
  type ColumnsOf,
  Database,
  queryBuilder,
  rowsOf,
  type TableRow,
  tableRow,
  toDate,
} from '../../platform/database/index.js';
import type { CreditEntry } from '../domain/entry.js';
import { type Month, monthAfter } from '../domain/period.js';
import { creditEntries } from './credits.schema.js';

export interface EntryFilter {
  /** Null for all. */
  readonly month: Month | null;
  /** Where the page before ended, within the month. */
  readonly after: { readonly createdAt: Date; readonly id: string } | null;
  readonly limit: number;
}

const tables = queryBuilder<{ credit_entries: ColumnsOf<typeof creditEntries> }>();

@Injectable()
export class CreditEntryRepository {
  constructor(private readonly database: Database) {}

  /** The newest first. */
  async list(organizationId: string, { month, after, limit }: EntryFilter): Promise<CreditEntry[]> {
    let page = entriesOf(organizationId).limit(limit);
    if (month) page = page.where('created_at', '>=', month.toISOString());
    if (after) {
      const { createdAt, id } = after;
      page = page.where((eb) => eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(createdAt.toISOString(), id)));
    } else if (month) {
      // Not beside the position, which is within the month: PostgreSQL would look for the later one of two ends, and read
      // its way from there.
      page = page.where('created_at', '<', monthAfter(month).toISOString());
    }
    return (await rowsOf(this.database, page)).map((row) => ({
      id: row.id,
      createdAt: toDate(row.created_at),
      agentId: row.agent_id,
      threadId: row.thread_id,
      provider: row.provider,
      model: row.model,
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      credits: Number(row.credits),
    }));
  }
}

/** The drivers answer a `bigint` as text; as a float it is a number, exact as far as JavaScript's are. */
function entriesOf(organizationId: string) {
  return tables
    .selectFrom('credit_entries')
    .select(['id', 'created_at', 'agent_id', 'thread_id', 'provider', 'model'])
    .select([
      sql<number | null>`input_tokens::float8`.as('input_tokens'),
      sql<number | null>`output_tokens::float8`.as('output_tokens'),
      sql<string>`credits::text`.as('credits'),
    ])
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
}

/** The entry of a run, to be inserted with its end, or of suggestions. */
export function entryRow(organizationId: string, { credits, ...entry }: CreditEntry): TableRow {
  return tableRow(creditEntries, { ...entry, organizationId, credits: credits.toFixed(4), counted: false });
}
