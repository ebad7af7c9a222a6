import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { until } from '../until.ts';
import { freePort } from '../../support/lasting-port.ts';
import { asPostgres, type Programs } from './programs.ts';
import { Proxy } from './proxy.ts';

interface Node {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
}

/** The kill is of a process and not of a machine, whose disk cache survives it. */
const CONFIGURATION = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
wal_level = replica
max_wal_senders = 10
wal_keep_size = 256MB
hot_standby = on
fsync = off
shared_buffers = 128MB
log_line_prefix = '%m [%p] %a '
log_min_duration_statement = 2000
`;

const FOLLOWS_WITHIN_MS = 180_000;

/** A primary with a synchronous standby, behind a proxy that follows the primary. */
export class PostgresPair {
  readonly proxy: Proxy;
  private readonly programs: Programs;
  private primary: Node;
  private standby: Node;
  private rebuilding: Promise<void> | undefined;

  private constructor(programs: Programs, proxy: Proxy, primary: Node, standby: Node) {
    this.programs = programs;
    this.proxy = proxy;
    this.primary = primary;
    this.standby = standby;
  }

  /** @param folder that PostgreSQL's user may write to @param configuration more lines of `postgresql.conf` */
  static async start(programs: Programs, folder: string, configuration = ''): Promise<PostgresPair> {
    const [primary, standby] = await Promise.all(
      ['one', 'two'].map(async (name) => ({ name, folder: join(folder, name), port: await freePort() })),
    );
    if (!primary || !standby) throw new Error('Two nodes were asked for');
    const options = ['-A', 'trust', '-U', 'postgres', '--no-sync', '--no-locale', '-E', 'UTF8'];
    await asPostgres(join(programs.postgres, 'initdb'), ['-D', primary.folder, ...options]);
    appendFileSync(join(primary.folder, 'postgresql.conf'), CONFIGURATION + configuration);
    const pair = new PostgresPair(programs, await Proxy.start(primary.port), primary, standby);
    await pair.serve(primary);
    await pair.query('create database chaos', 'postgres');
    await pair.rebuild();
    return pair;
  }

  /** What the service connects to. */
  get url(): string {
    return `postgresql://postgres@127.0.0.1:${this.proxy.port}/chaos`;
  }

  /** Past the proxy. */
  get directUrl(): string {
    return `postgresql://postgres@127.0.0.1:${this.primary.port}/chaos`;
  }

  async query<Row extends object>(sql: string, database = 'chaos'): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.directUrl.replace(/chaos$/, database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Whether the standby has every commit that was acknowledged, so that it may take over. */
  async canFailOver(): Promise<boolean> {
    if (this.rebuilding) return false;
    const rows = await this.query<{ sync_state: string }>('select sync_state from pg_stat_replication').catch(() => []);
    return rows.some(({ sync_state }) => sync_state === 'sync');
  }

  /** The primary dies, the standby takes over, and the old primary is made anew as its standby, in the background. */
  async failOver(downMs: number): Promise<void> {
    this.proxy.cut();
    await this.control(this.primary, 'stop', '-m', 'immediate');
    [this.primary, this.standby] = [this.standby, this.primary];
    await this.control(this.primary, 'promote', '-w');
    await new Promise((resolve) => setTimeout(resolve, downMs));
    this.proxy.aim(this.primary.port);
    this.proxy.restore();
    this.rebuilding = this.rebuild().finally(() => (this.rebuilding = undefined));
    // Told by `settled`, if the run waits for it.
    this.rebuilding.catch(() => undefined);
  }

  async settled(): Promise<void> {
    await this.rebuilding;
  }

  async close(): Promise<void> {
    await this.rebuilding?.catch(() => undefined);
    await this.proxy.close();
    await Promise.all(
      [this.primary, this.standby].map((node) => this.control(node, 'stop', '-m', 'immediate').catch(() => undefined)),
    );
  }

  private async serve(node: Node): Promise<void> {
    await this.control(node, 'start', '-w', '-l', `${node.folder}.log`, '-o', `-p ${node.port}`);
  }

  private async control(node: Node, ...args: string[]): Promise<void> {
    await asPostgres(join(this.programs.postgres, 'pg_ctl'), ['-s', '-t', '180', '-D', node.folder, ...args]);
  }

  /** The setting stands on the primary alone, and only while there is a standby: no commit may wait for one for ever. */
  private async rebuild(): Promise<void> {
    const { primary, standby } = this;
    rmSync(standby.folder, { recursive: true, force: true });
    const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres', '--no-sync', '-c', 'fast'];
    await asPostgres(join(this.programs.postgres, 'pg_basebackup'), [
      '-D',
      standby.folder,
      ...from,
      '-R',
      '-X',
      'stream',
    ]);
    await this.serve(standby);
    // Commits hang from the setting on until the standby has connected, which would be an outage that is recorded nowhere.
    const follows = (wanted: 'streaming' | 'sync') => async (): Promise<boolean> => {
      const rows = await this.query<{ state: string; sync_state: string }>('select * from pg_stat_replication');
      return rows.some(
        ({ state, sync_state }) => state === 'streaming' && (wanted === 'streaming' || sync_state === wanted),
      );
    };
    await until(follows('streaming'), 'the standby has connected', FOLLOWS_WITHIN_MS);
    await this.query(`alter system set synchronous_standby_names = '*'`);
    await this.query('select pg_reload_conf()');
    await until(follows('sync'), 'the standby follows', FOLLOWS_WITHIN_MS);
  }
}
