/**
 * SQL because the ORM's `upsert` copies a row in time that grows with the square of the number of objects in it, and a hooks
 * document may hold 10,000 values.
 */
import { statement } from '../../platform/database/index.js';

export const UPSERT_AGENT_HOOKS = statement(
  {
    agentId: 'uuid',
    organizationId: 'uuid',
    document: 'jsonb',
    headers: 'jsonb',
    sessionStart: 'jsonb',
    secretCreatedAt: 'timestamptz',
  },
  (p) => `
  insert into agent_hooks (agent_id, organization_id, document, headers, session_start, secret_created_at)
  values (${p.agentId}, ${p.organizationId}, ${p.document}, ${p.headers}, ${p.sessionStart}, ${p.secretCreatedAt})
  on conflict (agent_id) do update set
    document = excluded.document,
    headers = excluded.headers,
    session_start = excluded.session_start,
    secret_created_at = excluded.secret_created_at`,
);
