import { Injectable } from '@nestjs/common';
import { Database, insertRows, rowsByTable, statement, type TableRow } from '../../platform/database/index.js';

/** Stores the rows of observers about suggestions, which have no run whose end could store them. */
@Injectable()
export class SuggestionUsageRepository {
  constructor(private readonly database: Database) {}

  /** Inserts all of the rows or none. */
  async insert(rows: readonly TableRow[]): Promise<void> {
    const tables = rowsByTable(this.database.orm, rows);
    await this.database.transaction(async (transaction) => {
      for (const table of tables) {
        const insert = statement({ rows: 'jsonb' }, (p) => insertRows(table, p.rows, '(select 1) as once'));
        await insert.run(transaction, { rows: table.rows });
      }
    });
  }
}
