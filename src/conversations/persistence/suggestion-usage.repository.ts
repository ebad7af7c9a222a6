import { Injectable } from '@nestjs/common';
import { Database, rowsByTable, type TableRow } from '../../platform/database/index.js';
import { insertTable } from './suggestion-usage.sql.js';

/** Stores the rows of observers about suggestions, which have no run whose end could store them. */
@Injectable()
export class SuggestionUsageRepository {
  constructor(private readonly database: Database) {}

  /** Inserts all of the rows or none. */
  async insert(rows: readonly TableRow[]): Promise<void> {
    const tables = rowsByTable(this.database.orm, rows);
    await this.database.transaction(async (transaction) => {
      for (const table of tables) await insertTable(transaction, table);
    });
  }
}
