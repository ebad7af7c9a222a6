import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyClusterFile } from './test-database.js';

export interface DataFolder {
  readonly path: string;
  remove(): void;
}

/** A `DATA_DIR` that no process has used, but whose empty database is made already: making one takes seconds. */
export async function dataFolder(): Promise<DataFolder> {
  const path = mkdtempSync(join(tmpdir(), 'service-data-'));
  const database = join(path, 'database');
  mkdirSync(database);
  execFileSync('tar', ['-xf', await emptyClusterFile(), '-C', database], { stdio: 'ignore' });
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
