import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { clusterOnly } from '../../../test/support/modes.js';
import { until } from '../../../test/support/until.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { readSettings } from '../config/index.js';
import { DatabaseUnavailable, openDatabase, type OpenDatabase } from './index.js';

const WITH_PARAMETER = 'select $1::int as number';

clusterOnly('connections to a server', () => {
  let test: TestDatabase;
  let open: OpenDatabase | undefined;

  beforeEach(async () => {
    test = await openTestDatabase([]);
  });

  afterEach(async () => {
    await open?.close();
    await test.close();
  });

  async function openAt(
    url: string,
    role: 'all' | 'api' = 'all',
    directUrl?: string,
  ): Promise<OpenDatabase['database']> {
    const environment = {
      DATABASE_URL: url,
      DATABASE_DIRECT_URL: directUrl,
      REDIS_URL: 'redis://127.0.0.1:1',
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    };
    open = await openDatabase(readSettings(environment, { role, demo: false }), []);
    return open.database;
  }

  const preparedBy = async (database: OpenDatabase['database']): Promise<string[]> =>
    (await database.query<{ name: string }>('select name from pg_prepared_statements')).map(({ name }) => name);

  it('prepare statements under names that differ from those of another process', async () => {
    const one = await openAt(test.url ?? '');
    await one.query(WITH_PARAMETER, [1]);
    const [name] = await preparedBy(one);
    await open?.close();
    const other = await openAt(test.url ?? '');
    await other.query(WITH_PARAMETER, [1]);
    const [otherName] = await preparedBy(other);
    expect([name, otherName]).toEqual([expect.any(String), expect.any(String)]);
    expect(name).not.toBe(otherName);
  });

  it('are refused when DATABASE_DIRECT_URL leads to another database, or nowhere', async () => {
    const url = new URL(test.url ?? '');
    url.searchParams.set('application_name', 'direct');
    const same = await openAt(test.url ?? '', 'all', url.href);
    expect(await same.query(WITH_PARAMETER, [1])).toEqual([{ number: 1 }]);
    await open?.close();
    open = undefined;
    url.pathname = '/postgres';
    await expect(openAt(test.url ?? '', 'all', url.href)).rejects.toThrow(
      /^DATABASE_DIRECT_URL: leads to another database[^\n]*$/,
    );
    url.port = '1';
    await expect(openAt(test.url ?? '', 'all', url.href)).rejects.toThrow(
      /^DATABASE_DIRECT_URL: nothing listens at [^\n]*$/,
    );
  });

  it('repeat a statement whose prepared form is gone, and prepare nothing from then on: a pooler was put in between', async () => {
    const database = await openAt(test.url ?? '');
    await database.query(WITH_PARAMETER, [1]);
    await database.query('deallocate all');
    expect(await database.query(WITH_PARAMETER, [2])).toEqual([{ number: 2 }]);
    expect(await preparedBy(database)).toEqual([]);
  });

  it('repeat a transaction in which that happens', async () => {
    const database = await openAt(test.url ?? '');
    await database.query(WITH_PARAMETER, [1]);
    await database.query('deallocate all');
    const rows = await database.transaction((transaction) => transaction.query(WITH_PARAMETER, [3]));
    expect(rows).toEqual([{ number: 3 }]);
  });

  it('are called after the role of the process, unless the URL names them', async () => {
    const nameOf = async (url: string): Promise<string | undefined> => {
      const database = await openAt(url, 'api');
      const [row] = await database.query<{ name: string }>(`select current_setting('application_name') as name`);
      await open?.close();
      open = undefined;
      return row?.name;
    };
    expect(await nameOf(test.url ?? '')).toBe('agent-service api');
    expect(await nameOf(`${test.url ?? ''}?application_name=ours`)).toBe('ours');
  });

  it('that cannot be made are an outage, whatever the server says', async () => {
    const url = new URL(test.url ?? '');
    const name = url.pathname.slice(1);
    const server = new Client(Object.assign(new URL(url), { pathname: '/postgres' }).href);
    await server.connect();
    const answerTo = async (...changes: readonly string[]): Promise<unknown[]> => {
      for (const change of changes) await server.query(change);
      await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
      await until(() => (open?.native.kind === 'server' ? open.native.pool.totalCount === 0 : true), 'all are closed');
      if (!open) throw new Error('No database is open');
      const { database } = open;
      const attempts = [
        database.query('select 1'),
        database.transaction((transaction) => transaction.query('select 1')),
        database.read((em) => em.execute('select 1')),
      ];
      return Promise.all(attempts.map((attempt) => attempt.catch((error: unknown) => error)));
    };
    const outage = Array.from({ length: 3 }, () => expect.any(DatabaseUnavailable));
    try {
      await server.query(`create role ${name} login`);
      url.username = name;
      await (await openAt(url.href)).ping();
      expect(await answerTo(`alter database ${name} allow_connections false`)).toEqual(outage);
      expect(await answerTo(`alter database ${name} allow_connections true`, `alter role ${name} nologin`)).toEqual(
        outage,
      );
      await server.query(`alter role ${name} login`);
      expect(await open?.database.query('select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      await server.query(`alter database ${name} allow_connections true`);
      await server.query(`drop role ${name}`);
      await server.end();
    }
  });

  it('end a statement at its limit on the server', async () => {
    const database = await openAt(test.url ?? '');
    expect(await database.query('show statement_timeout')).toEqual([{ statement_timeout: '30s' }]);
  });
});
