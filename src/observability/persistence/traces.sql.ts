/**
 * Reads and removes traces. Written by hand because the ORM cannot cut long texts in the database, end a page by the bytes of its
 * rows, leave out the traces of deleted threads, or delete a batch past the rows that another transaction has locked.
 */
import { statement } from '../../platform/database/index.js';
import { SUMMARY_CHARACTERS } from '../limits.js';

/**
 * A deleted thread exists until its rows are removed in batches. There are few such threads at a time, so their ids are cheaper to
 * read than a join.
 */
const ofExistingThread = `traces.thread_id not in (select id from threads where deleted_at is not null)`;

/** The drivers return a `bigint` as text, and a `float8` as a number that is exact up to 2^53. */
const SUMMARY_COLUMNS = `
  traces.id, traces.agent_id as "agentId", traces.thread_id as "threadId", traces.message_id as "messageId", traces.channel,
  traces.provider, traces.model, traces.status, traces.started_at as "startedAt", traces.latency_ms::float8 as "latencyMs",
  traces.input_tokens::float8 as "inputTokens", traces.output_tokens::float8 as "outputTokens",
  traces.cached_input_tokens::float8 as "cachedInputTokens", traces.credits, traces.error`;

const TRACE_COLUMNS = `${SUMMARY_COLUMNS},
  traces.input, traces.output, traces.steps, traces.user_context as "userContext",
  traces.time_to_first_token_ms::float8 as "timeToFirstTokenMs"`;

const RANGE = { organizationId: 'uuid', agentId: 'uuid', from: 'timestamptz', to: 'timestamptz' } as const;
const RANGE_OF_THREAD = { ...RANGE, threadId: 'uuid' } as const;
const PAGE = { offset: 'bigint', limit: 'integer' } as const;

type References<Types> = { readonly [Name in keyof Types]: string };

const inRange = (p: References<typeof RANGE>): string => `
  organization_id = ${p.organizationId} and agent_id = ${p.agentId} and started_at >= ${p.from} and started_at < ${p.to}
  and ${ofExistingThread}`;

/** `left` counts code points. */
const summaries = (condition: string, page: References<typeof PAGE>): string => `
  select ${SUMMARY_COLUMNS}, left(input, ${SUMMARY_CHARACTERS}) as input, left(output, ${SUMMARY_CHARACTERS}) as output
  from traces where ${condition}
  order by started_at desc, id desc offset ${page.offset} limit ${page.limit}`;

export const SUMMARIES_OF_AGENT = statement({ ...RANGE, ...PAGE }, (p) => summaries(inRange(p), p));

export const SUMMARIES_OF_THREAD = statement({ ...RANGE_OF_THREAD, ...PAGE }, (p) =>
  summaries(`thread_id = ${p.threadId} and ${inRange(p)}`, p),
);

export const COUNT_OF_THREAD = statement(
  RANGE_OF_THREAD,
  (p) => `select count(*)::int as count from traces where thread_id = ${p.threadId} and ${inRange(p)}`,
);

const KEY = { organizationId: 'uuid', agentId: 'uuid', id: 'uuid', from: 'timestamptz' } as const;

const newestWith = (column: 'id' | 'message_id') =>
  statement(
    KEY,
    (p) => `
    select ${TRACE_COLUMNS} from traces
    where ${column} = ${p.id} and organization_id = ${p.organizationId} and agent_id = ${p.agentId} and started_at >= ${p.from}
      and ${ofExistingThread}
    order by started_at desc limit 1`,
  );

export const TRACE_BY_ID = newestWith('id');
export const TRACE_BY_MESSAGE = newestWith('message_id');

/**
 * One page of an export: the traces after a position, which neither new traces nor deleted ones move. PostgreSQL reads large values
 * only for the rows that it returns, so those beyond the page stay unread. `found` counts one trace more than the page may hold.
 */
const exportPage = (condition: string, p: References<{ limit: 0; maxBytes: 0 }>): string => `
  with newest as (
    select * from traces where ${condition} and published_at is not null and not withheld
    order by started_at desc, id desc limit ${p.limit} + 1
  ), measured as (
    select *,
      row_number() over (order by started_at desc, id desc rows unbounded preceding) as nth,
      sum(stored_bytes) over (order by started_at desc, id desc rows unbounded preceding) as total_bytes
    from newest
  )
  select ${TRACE_COLUMNS}, (select count(*)::int from measured) as found from measured traces
  where nth = 1 or (nth <= ${p.limit} and total_bytes <= ${p.maxBytes})
  order by nth`;

const EXPORT = { ...RANGE, limit: 'integer', maxBytes: 'bigint' } as const;

export const FIRST_EXPORT_PAGE = statement(EXPORT, (p) => exportPage(inRange(p), p));

export const NEXT_EXPORT_PAGE = statement({ ...EXPORT, afterStartedAt: 'timestamptz', afterId: 'uuid' }, (p) =>
  exportPage(`${inRange(p)} and (started_at, id) < (${p.afterStartedAt}, ${p.afterId})`, p),
);

/** Traces that may leave the service, with their agents. */
const pushable = (ids: string): string => `
  from traces join agents on agents.id = traces.agent_id
  where traces.id = any(${ids}) and not withheld and ${ofExistingThread}
  order by traces.id`;

export const PUSHABLE_SIZES = statement(
  { ids: 'uuid[]' },
  (p) => `select traces.id, stored_bytes::float8 as bytes ${pushable(p.ids)}`,
);

export const PUSHABLE_TRACES = statement(
  { ids: 'uuid[]' },
  (p) => `
  select ${TRACE_COLUMNS}, traces.organization_id as "organizationId", traces.caller_span as "callerSpan",
    agents.name as "agentName"
  ${pushable(p.ids)}`,
);

const deleteSome = (condition: string): string => `
  delete from traces where id = any(array(select id from traces where ${condition} for update skip locked)) returning id`;

export const DELETE_TRACES_BEFORE = statement({ cutoff: 'timestamptz', limit: 'integer' }, (p) =>
  deleteSome(`started_at < ${p.cutoff} order by started_at limit ${p.limit}`),
);

/** Agent by agent, each by its index: an index of all traces by age would be read past those of all other organizations. */
export const DELETE_TRACES_OF_ORGANIZATION = statement(
  { organizationId: 'uuid', cutoff: 'timestamptz', limit: 'integer' },
  (p) => `
  delete from traces where id = any(array(
    select old.id from agents cross join lateral (
      select id from traces where traces.agent_id = agents.id and started_at < ${p.cutoff} order by started_at limit ${p.limit}
    ) old
    where agents.organization_id = ${p.organizationId} limit ${p.limit}
  )) returning id`,
);

export const DELETE_TRACES_OF_DELETED_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) =>
    deleteSome(`organization_id = ${p.organizationId} and agent_id = ${p.agentId}
      and not exists (select 1 from agents where agents.id = ${p.agentId}) limit ${p.limit}`),
);

export const DELETE_TRACES_OF_THREADS = statement({ threadIds: 'uuid[]', limit: 'integer' }, (p) =>
  deleteSome(`thread_id = any(${p.threadIds}) limit ${p.limit}`),
);
