import { RELEASE, StartFailure } from '../config/index.js';
import type { SqlExecutor } from './database.js';
import { isUndefinedColumn, isUndefinedTable } from './database-failure.js';
import { REPLACED_MIGRATIONS } from './replaced-migrations.js';
import { BASE, type NamedMigration } from './schema.js';

/** A row of `schema_migrations`. The releases before `BASE` stored only names. */
interface StoredMigration {
  readonly name: string;
  readonly release?: string | null;
  readonly oldest_build?: string | null;
  readonly is_read_only: boolean;
}

export interface SchemaState {
  /** Names of the migrations of this build that the database lacks, in order. */
  readonly pending: readonly string[];
  /** Why this build may not use the database, in one line; undefined if it may. */
  readonly refusal: string | undefined;
  /** The server is a standby, or set to take no writes. */
  readonly isReadOnly: boolean;
}

const FOREIGN =
  'DATABASE_URL: the database has a table schema_migrations of another application; name a database of its own for this service';

/** The database is newer than this build allows, or too old to be migrated by it. */
export class SchemaRefusal extends StartFailure {}

/** One statement, which the readiness probe repeats. */
export async function schemaState(database: SqlExecutor, migrations: readonly NamedMigration[]): Promise<SchemaState> {
  const stored = await storedMigrations(database);
  if (stored === 'foreign') return { pending: [], refusal: FOREIGN, isReadOnly: false };
  const names = new Set(stored.map(({ name }) => name));
  if (isAtBase(names)) names.add(BASE);
  const known = migrations.map(({ name }) => name);
  const pending = known.filter((name) => !names.has(name));
  const isReadOnly = stored[0]?.is_read_only ?? false;
  return { pending, refusal: tooOld(names, pending) ?? tooNew(stored, known), isReadOnly };
}

/** Not by the columns of today, because releases before `BASE` have fewer. */
async function storedMigrations(database: SqlExecutor): Promise<StoredMigration[] | 'foreign'> {
  try {
    return await database.query<StoredMigration>(
      `select *, current_setting('transaction_read_only')::boolean as is_read_only from schema_migrations order by name`,
    );
  } catch (error) {
    if (isUndefinedTable(error)) return [];
    if (isUndefinedColumn(error)) return 'foreign';
    throw error;
  }
}

/** Whether all migrations that `BASE` replaces have run. */
export function isAtBase(names: ReadonlySet<string>): boolean {
  return REPLACED_MIGRATIONS.every((name) => names.has(name));
}

function tooOld(names: ReadonlySet<string>, pending: readonly string[]): string | undefined {
  if (!pending.includes(BASE) || names.size === 0) return undefined;
  return (
    `The database is at ${newest([...names])}, which is older than this build (release ${RELEASE}) can migrate: ` +
    `start the release that has ${newest(REPLACED_MIGRATIONS)} on it first`
  );
}

function tooNew(stored: readonly StoredMigration[], known: readonly string[]): string | undefined {
  const own = newest(known);
  const unknown = stored.filter(({ name }) => name > BASE && !known.includes(name));
  const refusing = unknown.find(({ oldest_build: oldest }) => !oldest || !known.includes(oldest));
  if (!refusing) return undefined;
  const { name, release } = unknown[unknown.length - 1] ?? refusing;
  return (
    `The database is at ${name} (release ${release ?? 'unknown'}), and this build is at ${own} (release ${RELEASE}): ` +
    `builds without ${refusing.oldest_build ?? refusing.name} may not use it. Start the newer release`
  );
}

function newest(names: readonly string[]): string {
  return names.reduce((one, other) => (one > other ? one : other), '');
}
