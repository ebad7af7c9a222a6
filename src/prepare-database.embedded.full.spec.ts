import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startPglite } from './platform/database/embedded-database.js';
import { beginPrepared, PREPARED_DATABASE, preparedVersion } from './platform/database/prepared-database.js';
import { BASE, migrationsOf } from './platform/database/schema.js';
import { schemas } from './schemas.js';

let root: string;
let target: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'prepared-'));
  target = join(root, 'database');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('the database that the build prepares', () => {
  it('has every table, and no row that an installation should make itself', async () => {
    expect(beginPrepared(target, preparedVersion(schemas), PREPARED_DATABASE)).toBe(true);
    const pglite = await startPglite({ dataDir: target });
    const { rows: done } = await pglite.query<{ name: string }>(
      `select name from schema_migrations where name >= '${BASE}' order by id`,
    );
    expect(done.map(({ name }) => name)).toEqual(migrationsOf(schemas).map(({ name }) => name));
    const { rows: tables } = await pglite.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace in ('public'::regnamespace, 'bullmq'::regnamespace)`,
    );
    const filled: string[] = [];
    for (const { name } of tables) {
      if ((await pglite.query(`select from ${name} limit 1`)).rows.length > 0) filled.push(name);
    }
    // `needed_until` is the time until which processes of the previous release may run; a new database has had none.
    const { rows: salted } = await pglite.query<{ over: boolean }>(
      'select needed_until <= now() as over from salted_end_users',
    );
    await pglite.close();
    expect(filled.sort()).toEqual(['bullmq.migration', 'salted_end_users', 'schema_migrations']);
    expect(salted).toEqual([{ over: true }]);
  });
});
