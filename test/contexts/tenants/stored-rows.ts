import type { Database } from '../../../src/platform/database/index.js';

/** Tables of the process rather than of an organization; what becomes of them is nobody's request. */
const OF_THE_PROCESS = new Set(['outbox', 'run_owners', 'schema_migrations']);
/** Written in the background, when it suits the process. */
const WRITTEN_LATER: Readonly<Record<string, string>> = { api_keys: 'last_used_at' };
/** The same, of organizations whose agents run: a run has tool servers asked again, and does not wait for their answer. */
const WRITTEN_AFTER_RUNS: Readonly<Record<string, string>> = { ...WRITTEN_LATER, tool_integration_states: 'checked_at' };

/**
 * A digest of every row that is stored, by table.
 * @param organizationId of this organization alone, no agent of which runs; of all when absent
 */
export async function storedRows(
  database: Database,
  organizationId?: string,
): Promise<Readonly<Record<string, string>>> {
  const digests = [...(await tablesOf(database))].map(([name, owner]) => digestOf(name, owner, organizationId));
  const [row] = await database.query<Record<string, string>>(
    `select ${digests.join(', ')}`,
    organizationId === undefined ? [] : [organizationId],
  );
  return row ?? {};
}

const tables = new WeakMap<Database, Promise<ReadonlyMap<string, string>>>();

/** The column that says whose a row is, by table. */
function tablesOf(database: Database): Promise<ReadonlyMap<string, string>> {
  const found = tables.get(database) ?? readTables(database);
  tables.set(database, found);
  return found;
}

async function readTables(database: Database): Promise<ReadonlyMap<string, string>> {
  const all = await database.query<{ name: string; owner: string | null }>(
    `select t.table_name as name,
       (select c.column_name from information_schema.columns c
        where c.table_schema = t.table_schema and c.table_name = t.table_name
          and c.column_name = 'organization_id') as owner
     from information_schema.tables t
     where t.table_schema = current_schema() and t.table_type = 'BASE TABLE' order by 1`,
  );
  const kept = all.filter(({ name }) => !OF_THE_PROCESS.has(name));
  return new Map(kept.map(({ name, owner }) => [name, ownerColumn(name, owner)]));
}

function ownerColumn(table: string, owner: string | null): string {
  if (owner !== null) return owner;
  if (table === 'organizations') return 'id';
  throw new Error(
    `${table} has no column organization_id: give it one, or say in ${import.meta.filename} why its rows are nobody's`,
  );
}

function digestOf(table: string, owner: string, organizationId: string | undefined): string {
  const later = (organizationId === undefined ? WRITTEN_AFTER_RUNS : WRITTEN_LATER)[table];
  const row = later === undefined ? 'to_jsonb(r)' : `to_jsonb(r) - '${later}'`;
  const where = organizationId === undefined ? '' : ` where ${owner} = $1`;
  return `(select count(*) || ':' || coalesce(md5(string_agg(md5((${row})::text), '' order by md5((${row})::text))), '')
    from "${table}" r${where}) as "${table}"`;
}
