/*
 * On the path of every message of an agent whose instructions are too long to keep in memory, and of the first message
 * of all others. Written by hand: one prepared statement for what the prompt is made of, and no entities, which would
 * cost as much again for contents of megabytes.
 */
import type { SqlExecutor } from '../../platform/database/index.js';
import type { SectionText } from '../domain/section.js';
import type { SectionsOwner } from './section.repository.js';

/** In prompt order. */
export function selectPrompt(source: SqlExecutor, { organizationId, agentId }: SectionsOwner): Promise<SectionText[]> {
  return source.query<SectionText>(
    `select name, content from sections
     where organization_id = $1 and agent_id = $2
     order by position, created_at, id`,
    [organizationId, agentId],
  );
}
