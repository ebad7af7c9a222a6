import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Where Debian and its kin install servers, which are not on the path. */
const DEBIAN = '/usr/lib/postgresql';
const NEEDED = ['initdb', 'pg_basebackup', 'pg_ctl', 'postgres'];

/** The programs of the servers that the chaos run starts. */
export interface Programs {
  /** The folder of PostgreSQL's. */
  readonly postgres: string;
  readonly redis: string;
}

/** @returns the programs, or a sentence that says which are missing */
export function findPrograms(): Programs | string {
  const path = (process.env['PATH'] ?? '').split(delimiter);
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const installed = versions.sort((one, other) => Number(other) - Number(one)).map((name) => join(DEBIAN, name, 'bin'));
  const postgres = [...installed, ...path].find((folder) => NEEDED.every((name) => existsSync(join(folder, name))));
  const redis = path.map((folder) => join(folder, 'redis-server')).find((program) => existsSync(program));
  const missing = [
    ...(postgres === undefined ? [`PostgreSQL's ${NEEDED.join(', ')}`] : []),
    ...(redis === undefined ? ['redis-server'] : []),
  ];
  return postgres !== undefined && redis !== undefined ? { postgres, redis } : `Not found: ${missing.join(' and ')}`;
}

/** Runs a program of PostgreSQL, which refuses to serve as root. */
export async function asPostgres(program: string, args: readonly string[]): Promise<string> {
  const line = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', program, ...args] : [program, ...args];
  const [command = '', ...rest] = line;
  const { stdout } = await run(command, rest, { cwd: '/' });
  return stdout;
}
