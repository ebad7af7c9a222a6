/**
 * Written by hand because the rows belong to tables that other contexts map, and rows that exist already are left as
 * they are.
 */
import { insertRows, type SqlExecutor, statement, type TableRows } from '../../platform/database/index.js';

export async function insertTable(executor: SqlExecutor, table: TableRows): Promise<void> {
  const insert = statement({ rows: 'jsonb' }, (p) => insertRows(table, p.rows, '(select 1) as once'));
  await insert.run(executor, { rows: table.rows });
}
