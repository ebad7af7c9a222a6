/**
 * Hot path: a message to a thread that this process has not seen for seconds looks the thread up with the statement
 * below. It is written by hand because the server plans such a statement once, and no entity is made of the row.
 */
import { statement } from '../../platform/database/index.js';

/**
 * That a thread is there for anybody. Its own deletion and that of its agent take it away at once, however much it
 * holds; its rows go later. One text for the statements of the hot path and for what is built.
 * @param threads what the statement calls the table
 */
export const isThere = (threads: string): string => `${threads}.deleted_at is null
    and exists (select 1 from agents where agents.id = ${threads}.agent_id)`;

export const IS_THERE = isThere('threads');

export const FIND_THREAD = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `
  select id, agent_id from threads where organization_id = ${p.organizationId} and id = ${p.id} and ${IS_THERE}`,
);
