/**
 * Hot path: a run reads its thread's history unless this process has it cached, clients poll pages of messages and runs
 * with their replies. Written by hand because a page ends by count and by bytes, which is found without reading the
 * messages beyond it, and because the database plans each text once.
 */
import { statement } from '../../platform/database/index.js';

const COLUMNS = `id, thread_id, run_id, client_id, role, content, status, blocked, attachments, components, reaction,
         created_at`;

/** A page's rows have the size `total_bytes` of all messages up to them; at least the newest message is in the page. */
const isInPage = (limit: string, maxBytes: string): string =>
  `nth = 1 or (nth <= ${limit} and total_bytes <= ${maxBytes})`;

/**
 * The plain `<` lets the scan begin at the position in the index. PostgreSQL reads large values, which it stores apart,
 * only for rows that it returns.
 */
export const HISTORY_PAGE = statement(
  {
    organizationId: 'uuid',
    threadId: 'uuid',
    /** The message before which to read; null for the newest. */
    before: 'uuid',
    limit: 'integer',
    maxBytes: 'bigint',
  },
  (p) => `
  with newest as (
    select messages.*, row_number() over newest_first as nth,
           sum(shown_bytes + tool_bytes + transcript_bytes + context_bytes) over newest_first as total_bytes
    from messages
    where thread_id = ${p.threadId} and organization_id = ${p.organizationId}
      and seq < coalesce((select seq from messages where id = ${p.before}), 9223372036854775807)
    window newest_first as (order by seq desc rows unbounded preceding)
    order by seq desc limit ${p.limit} + 1
  )
  select id, run_id, role, content, blocked, nullif(attachments, '[]') as attachments, additional_context,
         nullif(tool_calls, '[]') as tool_calls, nullif(transcript, '[]') as transcript,
         (select count(*)::int from newest) as found
  from newest where ${isInPage(p.limit, p.maxBytes)} order by nth`,
);

/** The newest messages as clients see them. Tool calls that are not shown do not count towards the size. */
export const SHOWN_PAGE = statement(
  { organizationId: 'uuid', threadId: 'uuid', limit: 'integer', maxBytes: 'bigint', toolCalls: 'boolean' },
  (p) => `
  with newest as (
    select messages.*, row_number() over newest_first as nth,
           sum(shown_bytes + component_bytes + case when ${p.toolCalls} then tool_bytes else 0 end) over newest_first
             as total_bytes
    from messages
    where thread_id = ${p.threadId} and organization_id = ${p.organizationId}
    window newest_first as (order by seq desc rows unbounded preceding)
    order by seq desc limit ${p.limit} + 1
  )
  select ${COLUMNS}, case when ${p.toolCalls} then tool_calls else '[]' end as tool_calls,
         (select count(*)::int from newest) as found
  from newest where ${isInPage(p.limit, p.maxBytes)} order by nth`,
);

export const FIND_MESSAGE = statement(
  { id: 'uuid' },
  (p) => `select ${COLUMNS}, tool_calls, transcript from messages where id = ${p.id}`,
);

export const COUNT_BEFORE = statement(
  { organizationId: 'uuid', threadId: 'uuid', messageId: 'uuid' },
  (p) => `
  select count(*)::int as count from messages
  where organization_id = ${p.organizationId} and thread_id = ${p.threadId}
    and seq < (select seq from messages where id = ${p.messageId})`,
);

/** The `@>` finds the messages in the index of those with attachments. */
export const REFERRED_FILES = statement(
  { fileIds: 'text[]' },
  (p) => `
  select asked.id from unnest(${p.fileIds}) as asked(id)
  where exists (
    select 1 from messages
    where attachments <> '[]'::jsonb and attachments @> jsonb_build_array(jsonb_build_object('fileId', asked.id))
  )`,
);
