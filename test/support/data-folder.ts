import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schemas } from '../../src/schemas.js';
import { prepareDatabase } from './prepared-cluster.js';

export interface DataFolder {
  readonly path: string;
  remove(): void;
}

/** A `DATA_DIR` that no process has used, but whose database is made already, with its tables: making one takes seconds. */
export async function dataFolder(): Promise<DataFolder> {
  const path = mkdtempSync(join(tmpdir(), 'service-data-'));
  await prepareDatabase(path, schemas);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
