import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PGlite } from '@electric-sql/pglite';
import {
  migrate,
  PREPARED_DATABASE,
  prepareDatabase,
  preparedVersion,
  readPrepared,
} from './platform/database/index.js';
import { openPglite } from './platform/database/embedded-database.js';
import { migratePglite } from './platform/jobs/pglite-pool.js';
import { schemas } from './schemas.js';

// A step of the build: makes the database that first starts begin with. It has tables, and only rows that migrations write,
// because keys, organizations and secrets must differ between installations.

const CACHE = fileURLToPath(new URL('../node_modules/.cache/database', import.meta.url));

/** Caches the file outside of dist/, which every build empties: to make it takes seconds, and few builds change a migration. */
async function prepared(version: string): Promise<string> {
  const file = join(CACHE, `${version}.zst`);
  if (readPrepared(file, version)) return file;
  mkdirSync(dirname(file), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'prepare-database-'));
  try {
    const open = await openPglite({ dataDir: folder }, schemas);
    await migrate(open);
    if (open.native.kind === 'embedded') {
      await migratePglite(open.native.pglite);
      await dropTemplates(open.native.pglite);
    }
    await open.close();
    prepareDatabase(folder, version, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return file;
}

/** Half of the files of a first start belong to the templates, which are only needed to create another database. */
async function dropTemplates(pglite: PGlite): Promise<void> {
  await pglite.exec(`update pg_database set datistemplate = false`);
  for (const name of ['template0', 'template1']) await pglite.exec(`drop database ${name}`);
}

copyFileSync(await prepared(preparedVersion(schemas)), fileURLToPath(PREPARED_DATABASE));
