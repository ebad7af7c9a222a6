/** Written by hand because other contexts map the tables, and rows that exist already must stay as they are. */
import { type Database, insertRows, rowsByTable, statement, type TableRow } from '../../platform/database/index.js';

/** Inserts all rows or none: rows of observers about suggestions, which have no run whose end could store them. */
export async function insertSuggestionUsage(database: Database, rows: readonly TableRow[]): Promise<void> {
  await database.transaction(async (transaction) => {
    for (const table of rowsByTable(database.orm, rows)) {
      const insert = statement({ rows: 'jsonb' }, (p) => insertRows(table, p.rows, '(select 1) as once'));
      await insert.run(transaction, { rows: table.rows });
    }
  });
}
