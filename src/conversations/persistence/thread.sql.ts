/**
 * That a thread is there for anybody. Its own deletion and that of its agent take it away at once, however much it
 * holds; its rows go later.
 */
export const IS_THERE = `threads.deleted_at is null
    and exists (select 1 from agents where agents.id = threads.agent_id)`;
