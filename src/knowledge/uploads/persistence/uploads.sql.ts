import { statement } from '../../../platform/database/index.js';

/** Rows of a list: entities take several times as long to make as the rows to read. */
export const listUploads = statement(
  { organizationId: 'uuid', agentId: 'uuid', before: 'uuid', limit: 'integer' },
  (
    p,
  ) => `select id::text as id, organization_id::text as "organizationId", agent_id::text as "agentId", name, content_type as "contentType",
      size::text as size, scope::text as scope, status, error, chunks, bytes, created_at as "createdAt"
    from knowledge_uploads
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and id < ${p.before} and status in ('processing', 'ready', 'failed')
    order by id desc limit ${p.limit}`,
);

/** The array is computed once; a subquery after `in` may be computed anew for each row, and would then find other rows than before. */
export const takeTurns = statement(
  { organizationId: 'uuid', turns: 'integer', now: 'timestamptz' },
  (p) => `update knowledge_uploads set turn = 'taken', changed_at = ${p.now}
    where organization_id = ${p.organizationId} and id = any(array(
      select id from knowledge_uploads waiting
       where organization_id = ${p.organizationId} and status = 'processing' and turn = 'waiting' order by size, id
       limit greatest(0, ${p.turns} - (select count(*) from knowledge_uploads taken
         where organization_id = ${p.organizationId} and status = 'processing' and turn = 'taken'))
       for update skip locked))
    returning agent_id::text as "agentId", id::text as "fileId"`,
);
