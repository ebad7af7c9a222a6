import type { Database } from '../../../src/platform/database/index.js';

/** Tables of the process and its background work, which no request of an organization changes. */
const OF_THE_PROCESS = new Set([
  'outbox',
  'run_owners',
  'job_workers',
  'schema_migrations',
  // The order in which all processes and organizations may request a host.
  'crawl_hosts',
  'crawl_host_slots',
  // Of the operator's endpoint; its settings decide which exist.
  'knowledge_embedding_models',
  // One row with the time until which processes of the previous release may run.
  'salted_end_users',
  // Keys of the service, which sign for all organizations.
  'session_signing_keys',
  // Sums of entries, to which a job adds.
  'credit_periods',
  // A job counts traces, minutes after their runs.
  'trace_counts',
  'agent_usage',
  'agent_users',
  'removed_runs',
  'suggestion_usage',
  // The progress of crawls: when tests move the clock, sites are crawled again.
  'knowledge_website_origins',
  'knowledge_website_pages',
]);
/** Tables whose rows belong to a row of another table, which has the organization. */
const OWNED_THROUGH: Readonly<Record<string, string>> = {
  knowledge_chunk_words: '(select c.organization_id from knowledge_chunks c where c.id = r.chunk_id)',
  knowledge_blocks: '(select p.organization_id from knowledge_partitions p where p.id = r.partition)',
  knowledge_postings: '(select p.organization_id from knowledge_partitions p where p.id = r.partition)',
  knowledge_terms: '(select v.organization_id from knowledge_vocabularies v where v.number = r.vocabulary)',
};
/** Columns that the process writes in the background, at any time. */
const WRITTEN_LATER: Readonly<Record<string, string>> = {
  api_keys: 'last_used_at',
  credit_entries: 'counted',
  // When tests move the clock, syncs are repeated.
  drive_sources:
    'due_at,lease,state,started_at,sync_id,phase,change_pages,change_token,is_full,stalls,next_sync_at,last_successful_sync_at',
  drive_items:
    'kind,via,name,mime_type,url,size,fingerprint,todo,attempts,page_token,pages,seen_in,result,error,document_id',
  // When a file is ready, the next one is parsed.
  knowledge_uploads: 'turn',
  traces: 'published_at,withheld',
  webhook_deliveries: 'status,tries,attempts,next_attempt_at,delivered_at',
  webhook_endpoints: 'failing_since,lease_id,leased_until',
  knowledge_websites:
    'crawl_id,state,work_left,budget,found,disallowed,budget_reached,started_at,last_successful_at,last_error,active_at,next_crawl_at',
};
/** As above, for organizations whose agents run: a run refreshes tool servers without waiting for their response. */
const WRITTEN_AFTER_RUNS: Readonly<Record<string, string>> = {
  ...WRITTEN_LATER,
  tool_integration_states: 'checked_at',
};

/**
 * A digest of the stored rows, by table.
 * @param organizationId limits it to this organization, whose agents must not run; by default the rows of all
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

/** The column with the organization of a row, by table. */
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
    `${table} has no column organization_id: give it one, or say in ${import.meta.filename} why its rows belong to no organization`,
  );
}

function digestOf(table: string, owner: string, organizationId: string | undefined): string {
  const later = (organizationId === undefined ? WRITTEN_AFTER_RUNS : WRITTEN_LATER)[table];
  const row = later === undefined ? 'to_jsonb(r)' : `to_jsonb(r) - '{${later}}'::text[]`;
  const where = organizationId === undefined ? '' : ` where ${owner} = $1`;
  // In a subquery, because the aggregate would compute each digest a second time for the order; by bytes, which needs no collation.
  return `(select count(*) || ':' || coalesce(md5(string_agg(digest, '' order by digest collate "C")), '')
    from (select md5((${row})::text) as digest from "${table}" r${where} offset 0) rows) as "${table}"`;
}
