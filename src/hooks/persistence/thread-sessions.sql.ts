/**
 * On the path of every run of an agent that has hooks, until this process knows what its thread began with. Written by hand
 * because a start is claimed, and what another run has made of it read, in one round trip with a plan made once.
 */
import { statement } from '../../platform/database/index.js';

/** As it is answered; none where the thread has no start and gets none any more. */
export interface SessionRow {
  readonly is_own: boolean;
  /** Milliseconds until whoever is at it has had its time, by the database's clock. */
  readonly remaining_ms: number;
  readonly session: unknown;
}

const SHOWN = `session, greatest(0, extract(epoch from expires_at - now()) * 1000)::float8 as remaining_ms`;

/**
 * Claims the start of a thread for a run, unless another run has had it or has already replied. A run that failed without
 * a word leaves the first reply to the next one.
 */
export const CLAIM_SESSION = statement(
  { threadId: 'uuid', organizationId: 'uuid', runId: 'uuid', allowedMs: 'double precision' },
  (p) => `
  with present as (
    select * from thread_sessions where thread_id = ${p.threadId} and organization_id = ${p.organizationId}
  ), claimed as (
    insert into thread_sessions (thread_id, organization_id, run_id, expires_at)
    select threads.id, threads.organization_id, ${p.runId}, now() + ${p.allowedMs} * interval '1 millisecond'
    from threads
    where threads.id = ${p.threadId} and threads.organization_id = ${p.organizationId}
      and not exists (select 1 from present)
      and not exists (
        select 1 from messages
        where messages.thread_id = threads.id and messages.role = 'assistant' and messages.run_id <> ${p.runId}
      )
    on conflict (thread_id) do nothing
    returning *
  )
  select true as is_own, ${SHOWN} from claimed
  union all
  select false as is_own, ${SHOWN} from present`,
);

export const FIND_SESSION = statement(
  { threadId: 'uuid', organizationId: 'uuid' },
  (p) => `
  select false as is_own, ${SHOWN} from thread_sessions
  where thread_id = ${p.threadId} and organization_id = ${p.organizationId}`,
);

/**
 * What came of a start. The first to tell it is heard; answers what is stored then, which is another one's where that was first.
 * `runId`: only while the start is this run's; null once its time is over.
 */
export const END_SESSION = statement(
  { threadId: 'uuid', organizationId: 'uuid', runId: 'uuid', session: 'jsonb' },
  (p) => `
  update thread_sessions set session = ${p.session}
  where thread_id = ${p.threadId} and organization_id = ${p.organizationId} and session is null
    and case when ${p.runId} is null then expires_at <= now() else run_id = ${p.runId} end
  returning true as is_own, ${SHOWN}`,
);
