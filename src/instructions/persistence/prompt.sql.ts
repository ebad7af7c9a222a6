/**
 * Hot path: every message of an agent whose instructions are too long for the cache, and the first message of all others.
 * Entities would double the cost for contents of megabytes.
 */
import { statement } from '../../platform/database/index.js';

/** Names and contents in prompt order. */
export const SELECT_PROMPT = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `
  select name, content from sections where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
  order by position, created_at, id`,
);
