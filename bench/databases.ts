import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { PostgresProcesses } from './postgres-processes.ts';

/** Makes databases for one run on the given server, and drops them at its end. */
export class Databases {
  private readonly made: string[] = [];
  private readonly server: URL;
  private readonly admin: Client;

  private constructor(server: URL, admin: Client) {
    this.server = server;
    this.admin = admin;
  }

  static async connect(url: string): Promise<Databases> {
    const admin = new Client({ connectionString: url });
    await admin.connect();
    return new Databases(new URL(url), admin);
  }

  /** Makes an empty database. @returns its URL */
  async create(purpose: string): Promise<URL> {
    const name = `bench_${purpose}_${randomBytes(4).toString('hex')}`;
    // Listed before it exists, so that a bench that is stopped during its creation also drops it.
    this.made.push(name);
    await this.admin.query(`create database ${name}`);
    const url = new URL(this.server);
    url.pathname = `/${name}`;
    return url;
  }

  /** Connections of one program to a database, by state. */
  async connections(database: URL, program: string): Promise<Connections> {
    const { rows } = await this.admin.query<{ state: string | null }>(
      'select state from pg_stat_activity where datname = $1 and application_name = $2',
      [database.pathname.slice(1), program],
    );
    const inState = (prefix: string): number => rows.filter(({ state }) => state?.startsWith(prefix)).length;
    return { total: rows.length, active: inState('active'), idleInTransaction: inState('idle in transaction') };
  }

  /** The processes of the server; undefined if it runs on another machine. */
  async processes(): Promise<PostgresProcesses | undefined> {
    const { rows } = await this.admin.query<{ pid: number }>('select pg_backend_pid() as pid');
    return PostgresProcesses.of(rows[0]?.pid ?? 0);
  }

  async version(): Promise<string> {
    const { rows } = await this.admin.query<{ server_version: string }>('show server_version');
    // Without the suffix that a package adds to the version.
    return rows[0]?.server_version.split(' ')[0] ?? '';
  }

  async drop(): Promise<void> {
    for (const name of this.made.splice(0)) await this.admin.query(`drop database if exists ${name} with (force)`);
    await this.admin.end();
  }
}

export interface Connections {
  readonly total: number;
  readonly active: number;
  readonly idleInTransaction: number;
}
