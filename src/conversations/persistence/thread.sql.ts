/**
 * That a thread is there for anybody. Its own deletion and that of its agent take it away at once, however much it
 * holds; its rows go later. One text for the statements of the hot path and for what is built.
 * @param threads what the statement calls the table
 */
export const isThere = (threads: string): string => `${threads}.deleted_at is null
    and exists (select 1 from agents where agents.id = ${threads}.agent_id)`;

export const IS_THERE = isThere('threads');
