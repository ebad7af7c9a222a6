/**
 * Hot path: a run reads its thread's history unless this process has it cached, clients poll pages of messages and runs
 * with their replies. Written by hand because a page ends by count and by bytes, which is found without reading the
 * messages beyond it, and because the database plans each text once.
 */
import { type ParameterReferences, statement } from '../../platform/database/index.js';

const COLUMNS = `id, thread_id, run_id, client_id, role, content, status, blocked, attachments, components, reaction,
         created_at`;

const PAGE = { organizationId: 'uuid', threadId: 'uuid', limit: 'integer', maxBytes: 'bigint' } as const;

/**
 * The newest messages, at least one, with at most `maxBytes` together. PostgreSQL reads large values, which it stores
 * apart, only for rows that it returns.
 */
const page = (
  p: ParameterReferences<typeof PAGE>,
  { columns, size, condition = 'true' }: { columns: string; size: string; condition?: string },
): string => `
  with newest as (
    select messages.*, row_number() over newest_first as nth, sum(${size}) over newest_first as total_bytes
    from messages
    where thread_id = ${p.threadId} and organization_id = ${p.organizationId} and ${condition}
    window newest_first as (order by seq desc rows unbounded preceding)
    order by seq desc limit ${p.limit} + 1
  )
  select ${columns}, (select count(*)::int from newest) as found
  from newest where nth = 1 or (nth <= ${p.limit} and total_bytes <= ${p.maxBytes}) order by nth`;

/** `before`: the message before which to read; null for the newest. */
export const HISTORY_PAGE = statement({ ...PAGE, before: 'uuid' }, (p) =>
  page(p, {
    columns: `id, run_id, role, content, blocked, nullif(attachments, '[]') as attachments, additional_context,
         nullif(tool_calls, '[]') as tool_calls, nullif(transcript, '[]') as transcript`,
    size: 'shown_bytes + tool_bytes + transcript_bytes + context_bytes',
    // The plain `<` lets the scan begin at the position in the index.
    condition: `seq < coalesce((select seq from messages where id = ${p.before}), 9223372036854775807)`,
  }),
);

/** The newest messages as clients see them. Tool calls that are not shown do not count towards the size. */
export const SHOWN_PAGE = statement({ ...PAGE, toolCalls: 'boolean' }, (p) =>
  page(p, {
    columns: `${COLUMNS}, case when ${p.toolCalls} then tool_calls else '[]' end as tool_calls`,
    size: `shown_bytes + component_bytes + case when ${p.toolCalls} then tool_bytes else 0 end`,
  }),
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
