/**
 * SQL because clients page through lists of uploads (a hot path: entities take several times as long to create as the rows to
 * read), and because the ORM has no locked batches that are chosen by a count, and no entity of another context's table `agents`.
 */
import { statement } from '../../../platform/database/index.js';

export const LIST_UPLOADS = statement(
  { organizationId: 'uuid', agentId: 'uuid', before: 'uuid', limit: 'integer' },
  (
    p,
  ) => `select id::text as id, organization_id::text as "organizationId", agent_id::text as "agentId", name, content_type as "contentType",
      size::text as size, scope::text as scope, status, error, chunks, bytes, created_at as "createdAt"
    from knowledge_uploads
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and id < ${p.before} and status in ('processing', 'ready', 'failed')
    order by id desc limit ${p.limit}`,
);

/** The array is computed once. The database may compute a subquery after `in` again for each row, which would then find other rows. */
export const TAKE_SLOTS = statement(
  { organizationId: 'uuid', slots: 'integer', now: 'timestamptz' },
  (p) => `update knowledge_uploads set turn = 'taken', changed_at = ${p.now}
    where organization_id = ${p.organizationId} and id = any(array(
      select id from knowledge_uploads waiting
       where organization_id = ${p.organizationId} and status = 'processing' and turn = 'waiting' order by size, id
       limit greatest(0, ${p.slots} - (select count(*) from knowledge_uploads taken
         where organization_id = ${p.organizationId} and status = 'processing' and turn = 'taken'))
       for update skip locked))
    returning agent_id::text as "agentId", id::text as "fileId"`,
);

export const FIND_ORGANIZATIONS_WITH_WAITING_UPLOADS = statement(
  { since: 'timestamptz' },
  (p) => `select distinct organization_id::text as "organizationId" from knowledge_uploads
    where status = 'processing' and turn = 'waiting' and changed_at < ${p.since}`,
);
