/** SQL because they read `agents` and `knowledge_documents`, tables of another context and module that have no entity here. */
import { statement } from '../../../platform/database/index.js';

export const COUNT_AGENTS = statement(
  { organizationId: 'uuid' },
  (p) => `
  select account_id as "accountId", count(distinct agent_id)::integer as agents from drive_sources
   where organization_id = ${p.organizationId} and removed_at is null and exists (select 1 from agents where agents.id = drive_sources.agent_id)
   group by account_id`,
);

export const USAGE = statement(
  { organizationId: 'uuid', sourceId: 'uuid' },
  (p) => `
  select coalesce(sum(d.chunks), 0)::double precision as chunks, coalesce(sum(d.bytes::bigint), 0)::double precision as bytes
    from drive_items i join knowledge_documents d on d.id = i.document_id and d.organization_id = i.organization_id
   where i.organization_id = ${p.organizationId} and i.source_id = ${p.sourceId}`,
);
