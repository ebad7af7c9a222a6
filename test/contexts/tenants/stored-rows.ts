import type { Database } from '../../../src/platform/database/index.js';

/** Tables of the process rather than of an organization, and of its own work; what becomes of them is nobody's request. */
const OF_THE_PROCESS = new Set([
  'outbox',
  'run_owners',
  'schema_migrations',
  // Whose turn it is to ask a host, of all processes and organizations together.
  'crawl_hosts',
  'crawl_host_slots',
  // Of the operator's endpoint; which of them there are goes by its settings.
  'knowledge_embedding_models',
  // One row: the time until which processes of the previous release may run.
  'salted_end_users',
  // Keys of the service, which sign for all.
  'session_signing_keys',
  // Sums of entries, to which a job adds.
  'credit_periods',
  // What a job counts of traces, minutes after their runs.
  'trace_counts',
  'agent_usage',
  'agent_users',
  'removed_runs',
  'suggestion_usage',
  // What a crawl has done so far; tests move the clock on, and sites are crawled again.
  'knowledge_website_origins',
  'knowledge_website_pages',
]);
/** Rows that belong to another one, which says whose they are. */
const OWNED_THROUGH: Readonly<Record<string, string>> = {
  knowledge_chunk_words: '(select c.organization_id from knowledge_chunks c where c.id = r.chunk_id)',
  knowledge_blocks: '(select p.organization_id from knowledge_partitions p where p.id = r.partition)',
  knowledge_postings: '(select p.organization_id from knowledge_partitions p where p.id = r.partition)',
  knowledge_terms: '(select v.organization_id from knowledge_vocabularies v where v.number = r.vocabulary)',
};
/** Columns that are written in the background, when it suits the process. */
const WRITTEN_LATER: Readonly<Record<string, string>> = {
  api_keys: 'last_used_at',
  credit_entries: 'counted',
  // A sync is repeated when its time has come, and tests move the clock on.
  drive_sources:
    'due_at,lease,state,started_at,sync_id,phase,change_pages,change_token,is_full,stalls,next_sync_at,last_successful_sync_at',
  drive_items:
    'kind,via,name,mime_type,url,size,fingerprint,todo,attempts,page_token,pages,seen_in,result,error,document_id',
  // A file gives its turn to be parsed to the next one once it is ready.
  knowledge_uploads: 'turn',
  traces: 'published_at,withheld',
  knowledge_websites:
    'crawl_id,state,work_left,budget,found,disallowed,budget_reached,started_at,last_successful_at,last_error,active_at,next_crawl_at',
};
/** The same, of organizations whose agents run: a run has tool servers asked again, and does not wait for their answer. */
const WRITTEN_AFTER_RUNS: Readonly<Record<string, string>> = {
  ...WRITTEN_LATER,
  tool_integration_states: 'checked_at',
};

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
  const through = OWNED_THROUGH[table];
  if (through !== undefined) return through;
  throw new Error(
    `${table} has no column organization_id: give it one, or say in ${import.meta.filename} why its rows are nobody's`,
  );
}

function digestOf(table: string, owner: string, organizationId: string | undefined): string {
  const later = (organizationId === undefined ? WRITTEN_AFTER_RUNS : WRITTEN_LATER)[table];
  const row = later === undefined ? 'to_jsonb(r)' : `to_jsonb(r) - '{${later}}'::text[]`;
  const where = organizationId === undefined ? '' : ` where ${owner} = $1`;
  // Made below the sum, which would make each digest a second time for its order; by bytes, which no collation slows.
  return `(select count(*) || ':' || coalesce(md5(string_agg(digest, '' order by digest collate "C")), '')
    from (select md5((${row})::text) as digest from "${table}" r${where} offset 0) rows) as "${table}"`;
}
