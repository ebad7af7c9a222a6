/**
 * Hot path: every run of an agent with hooks executes one of these, unless its process has the thread's session cached. The
 * claim is a data-modifying CTE, so that claiming and reading another run's claim take one round trip.
 */
import { statement } from '../../platform/database/index.js';

export interface SessionRow {
  readonly is_own: boolean;
  /** Milliseconds until the claim expires, by the database's clock. */
  readonly remaining_ms: number;
  readonly session: unknown;
}

const SHOWN = `session, greatest(0, extract(epoch from expires_at - now()) * 1000)::float8 as remaining_ms`;

/**
 * Claims the start of a thread for a run, unless another run has claimed it or has already replied. Returns the claim of this run,
 * also when it has made it before, or of the other run; no row when the thread has no start. A run that failed before it wrote a
 * message does not count as a reply.
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
  select run_id = ${p.runId} as is_own, ${SHOWN} from present`,
);

export const FIND_SESSION = statement(
  { threadId: 'uuid', organizationId: 'uuid' },
  (p) => `
  select false as is_own, ${SHOWN} from thread_sessions
  where thread_id = ${p.threadId} and organization_id = ${p.organizationId}`,
);

/**
 * Stores the outcome of a start, unless one is stored; no row in that case. With `runId` only that run's claim is ended, with
 * null only an expired one.
 */
export const END_SESSION = statement(
  { threadId: 'uuid', organizationId: 'uuid', runId: 'uuid', session: 'jsonb' },
  (p) => `
  update thread_sessions set session = ${p.session}
  where thread_id = ${p.threadId} and organization_id = ${p.organizationId} and session is null
    and case when ${p.runId} is null then expires_at <= now() else run_id = ${p.runId} end
  returning true as is_own, ${SHOWN}`,
);
