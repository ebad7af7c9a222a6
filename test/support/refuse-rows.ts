import type { Database } from '../../src/platform/database/index.js';

interface RefusedRows {
  readonly change: 'insert' | 'update';
  readonly on: 'runs' | 'traces' | 'oauth_grants' | 'knowledge_website_pages';
  /** SQL about the row as it is to be, `new`, and of an update as it was, `old`; all rows unless told otherwise. */
  readonly when?: string;
  /** The name that PostgreSQL has for the error; `disk_full` is one of a database that is away. */
  readonly error: 'disk_full' | 'raise_exception';
}

/** Has the database refuse such rows, until what is returned is called. */
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
