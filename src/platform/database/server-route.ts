import { randomBytes, randomInt } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';

/** What stands between this process and PostgreSQL. */
export interface ServerRoute {
  /** A pooler gives each transaction any of its connections: nothing that a session keeps lasts beyond a transaction. */
  readonly isPooled: boolean;
  /** Whether a prepared statement can be executed later, on whichever connection. */
  readonly keepsPrepared: boolean;
}

const DIRECT: ServerRoute = { isPooled: false, keepsPrepared: true };

/** PostgreSQL tells each connection the id of its process; a pooler makes one up. Rejects if the server cannot be used. */
export function findRoute(config: ClientConfig): Promise<ServerRoute> {
  return connected(config, async (client: Client & { readonly processID?: number | null }) => {
    if ((await serverProcessOf(client)) === client.processID) return DIRECT;
    return { isPooled: true, keepsPrepared: await renamesStatements(client) };
  });
}

/** Whether a client is given the connection of another one that is between two transactions. Rejects if the server cannot be used. */
export function sharesConnections(config: ClientConfig): Promise<boolean> {
  return connected(config, async (idle) => {
    const process = await serverProcessOf(idle);
    return connected(config, async (other) => (await serverProcessOf(other)) === process);
  });
}

async function serverProcessOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/** Whether two addresses lead to one database: each server lists only the locks of its own. Rejects if the first cannot be used. */
export function isSameDatabase(direct: ClientConfig, queries: ClientConfig): Promise<boolean> {
  const lock = randomInt(2 ** 31);
  return connected(direct, async (client) => {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1, 0)', [lock]);
    const { rows } = await connected(queries, (other) =>
      other.query(
        `select from pg_locks where locktype = 'advisory' and classid = $1 and objsubid = 2
           and database = (select oid from pg_database where datname = current_database())`,
        [lock],
      ),
    );
    await client.query('rollback');
    return rows.length > 0;
  });
}

async function connected<Result>(config: ClientConfig, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client(config);
  // Without a listener a lost connection would end the process; the statement fails anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A pooler that prepares statements again on other connections gives them names of its own; any other passes the name on. */
async function renamesStatements(client: Client): Promise<boolean> {
  const name = `probe_${randomBytes(6).toString('hex')}`;
  await client.query('begin');
  await client.query({ name, text: 'select $1::int', values: [1] });
  const { rows } = await client.query('select from pg_prepared_statements where name = $1', [name]);
  // Otherwise it would stay on the pooler's connection.
  if (rows.length > 0) await client.query(`deallocate ${name}`);
  await client.query('rollback');
  return rows.length === 0;
}
