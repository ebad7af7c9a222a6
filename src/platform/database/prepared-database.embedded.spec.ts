import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { beginPrepared, prepareDatabase, preparedVersion } from './prepared-database.js';
import { type ContextSchema, migration } from './schema.js';

/** The built module, for a separate process. */
const MODULE = resolve('dist/platform/database/prepared-database.js');

let root: string;
let file: string;
let target: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'prepared-'));
  [file, target] = [join(root, 'prepared.zst'), join(root, 'database')];
  mkdirSync(join(root, 'made/base/5'), { recursive: true });
  writeFileSync(join(root, 'made/PG_VERSION'), '18');
  writeFileSync(join(root, 'made/base/5/1'), Buffer.alloc(100_000, 7));
  prepareDatabase(join(root, 'made'), 'one', file);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Creates the target in a process that kills itself before the given step; each file is written in two steps. */
function killedBefore(step: number): SpawnSyncReturns<string> {
  const program = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    let left = ${step};
    const count = () => { if (left-- === 0) process.kill(process.pid, 'SIGKILL'); };
    const original = { ...fs };
    for (const name of ['rmSync', 'mkdirSync', 'renameSync']) fs[name] = (...given) => { count(); return original[name](...given); };
    fs.writeFileSync = (path, data, options) => {
      count();
      original.writeFileSync(path, data.subarray(0, data.length / 2), options);
      count();
      original.writeFileSync(path, data.subarray(data.length / 2), { flag: 'a' });
    };
    syncBuiltinESMExports();
    const { beginPrepared } = await import(${JSON.stringify(MODULE)});
    beginPrepared(${JSON.stringify(target)}, 'one', ${JSON.stringify(file)});
  `;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
}

const filesIn = (folder: string): string[] => (readdirSync(folder, { recursive: true }) as string[]).sort();

describe('a prepared database', () => {
  it('becomes the new database, accessible only to its owner', () => {
    expect(beginPrepared(target, 'one', file)).toBe(true);
    expect(filesIn(target)).toEqual(filesIn(join(root, 'made')));
    expect(readFileSync(join(target, 'base/5/1'))).toEqual(Buffer.alloc(100_000, 7));
    expect(
      [target, join(target, 'base'), join(target, 'PG_VERSION')].map((path) => statSync(path).mode & 0o777),
    ).toEqual([0o700, 0o700, 0o600]);
  });

  it('replaces the partial copy of a killed process', () => {
    mkdirSync(`${target}.part/pg_wal`, { recursive: true });
    writeFileSync(`${target}.part/PG_VERSION`, '');
    writeFileSync(`${target}.part/pg_wal/left`, '');
    expect(beginPrepared(target, 'one', file)).toBe(true);
    expect(filesIn(root)).not.toContain('database.part');
    expect(filesIn(target)).toEqual(filesIn(join(root, 'made')));
  });

  it('is copied completely or not at all if the process is killed, and the next start copies it again', () => {
    // The steps: remove the rest, create three folders, write two files in halves, rename.
    for (let step = 0; step < 9; step += 1) {
      expect(killedBefore(step)).toMatchObject({ signal: 'SIGKILL', stderr: '' });
      expect(existsSync(target)).toBe(false);
      expect(beginPrepared(target, 'one', file)).toBe(true);
      expect(filesIn(target)).toEqual(filesIn(join(root, 'made')));
      expect(statSync(join(target, 'base/5/1')).size).toBe(100_000);
      expect(existsSync(`${target}.part`)).toBe(false);
      rmSync(target, { recursive: true });
    }
    expect(killedBefore(9)).toMatchObject({ signal: null, stderr: '' });
    expect(filesIn(target)).toEqual(filesIn(join(root, 'made')));
  });

  it.each([
    ['missing', () => rmSync(file)],
    ['of another version', () => prepareDatabase(join(root, 'made'), 'two', file)],
    ['cut off', () => truncateSync(file, statSync(file).size / 2)],
    ['no such thing', () => writeFileSync(file, 'not a database')],
  ])('is not used if it is %s', (_what, spoil) => {
    spoil();
    expect(beginPrepared(target, 'one', file)).toBe(false);
    expect(existsSync(target)).toBe(false);
  });

  it.each<[string, (sql: string) => Partial<ContextSchema>]>([
    ['the base', (sql) => ({ base: [sql] })],
    ['a migration', (sql) => ({ migrations: [migration('2026010100_test', [sql])] })],
  ])('has another version if %s changes', (_what, schema) => {
    const versions = ['select 1', 'select 2'].map((sql) => preparedVersion([{ entities: [], ...schema(sql) }]));
    expect(new Set(versions).size).toBe(2);
  });
});
