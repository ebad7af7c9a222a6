import type { Database } from '../../src/platform/database/index.js';

interface RefusedRows {
  readonly change: 'insert' | 'update';
  readonly on: 'runs' | 'messages' | 'traces' | 'oauth_grants' | 'knowledge_website_pages';
  /** An SQL condition on `new`, the row after the change, and for updates `old`; by default all rows. */
  readonly when?: string;
  /** PostgreSQL's name of the error. The service treats `disk_full` like an unavailable database. */
  readonly error: 'disk_full' | 'raise_exception';
}

/** Makes the database refuse such rows. @returns a function that ends this */
export async function refuseRows(
  database: Pick<Database, 'query'>,
  { change, on, when = 'true', error }: RefusedRows,
): Promise<() => Promise<unknown>> {
  await database.query(
    `create or replace function refuse_row() returns trigger language plpgsql as
     $$ begin raise exception 'the row is refused' using errcode = tg_argv[0]; end $$`,
  );
  await database.query(
    `create trigger refuse_row before ${change} on ${on} for each row when (${when}) execute function refuse_row('${error}')`,
  );
  return () => database.query(`drop trigger refuse_row on ${on}`);
}
