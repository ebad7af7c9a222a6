/**
 * Hot path: a run whose thread this process does not remember reads the thread with the statements below before it calls
 * the model. They are written by hand because the page ends by count and by bytes, found without reading the messages
 * beyond it, in one round trip with a plan made once.
 */
import { statement } from '../../platform/database/index.js';

const PAGE_PARAMETERS = {
  organizationId: 'uuid',
  threadId: 'uuid',
  /** The message before which to read; null for the newest. */
  before: 'uuid',
  limit: 'integer',
  maxBytes: 'bigint',
} as const;

/** A plain `<`, which the index can begin at. Large values stay where they are until a row is answered. */
export const HISTORY_PAGE = statement(
  PAGE_PARAMETERS,
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
  from newest where nth = 1 or (nth <= ${p.limit} and total_bytes <= ${p.maxBytes}) order by nth`,
);

export const COUNT_BEFORE = statement(
  { organizationId: 'uuid', threadId: 'uuid', messageId: 'uuid' },
  (p) => `
  select count(*)::int as count from messages
  where organization_id = ${p.organizationId} and thread_id = ${p.threadId}
    and seq < (select seq from messages where id = ${p.messageId})`,
);
