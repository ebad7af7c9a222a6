/**
 * Hot path: every message of an agent whose instructions are too long for the cache, and the first message of all others.
 * Entities would double the cost for contents of megabytes.
 */
import { type SqlExecutor, statement } from '../../platform/database/index.js';
import type { SectionText } from '../domain/section.js';
import type { SectionsOwner } from './section.repository.js';

const PROMPT = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `
  select name, content from sections where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
  order by position, created_at, id`,
);

/** In prompt order. */
export function selectPrompt(source: SqlExecutor, owner: SectionsOwner): Promise<SectionText[]> {
  return PROMPT.run<SectionText>(source, owner);
}
