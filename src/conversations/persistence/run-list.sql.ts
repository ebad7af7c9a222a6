/**
 * Hot path: clients poll these lists while they wait for background runs, and inboxes while people are asked. Written by
 * hand because every page reads a bounded number of runs in the order of an index, whatever is filtered out, and because
 * whether a run's requests are open and whether its thread exists depends on tables without a relation in the mapping.
 */
import { type ParameterReferences, statement } from '../../platform/database/index.js';
import { RUN_COLUMNS } from './run-reader.sql.js';
import { THREAD_EXISTS } from './thread.sql.js';

/**
 * Runs that one page reads at most. A page that reads as many ends there and has fewer entries, so that a filter that
 * few runs pass does not read all runs of an organization. Part of the text, since the plan for an unknown number reads
 * and sorts all runs.
 */
const READ_RUNS = 5_000;

/** Further expired runs are this much older. Longer than a run, because they are sorted by their start. */
const EXPIRED_MARGIN = '1 day';

const FILTER = {
  /** Only runs with one of these statuses; null means all. */
  statuses: 'text[]',
  /** Only runs of these agents; null means all. */
  agentIds: 'uuid[]',
  /** Only runs that were created later; null means all. */
  createdAfter: 'timestamptz',
  limit: 'integer',
} as const;

interface Source {
  /** From what the runs are read. */
  readonly from: string;
  /** That of an index, so that the database reads no further than the page. */
  readonly order: string;
  /** Columns of the order that a run does not have. */
  readonly columns?: readonly string[];
  /** A further condition on an entry. */
  readonly condition?: string;
  /** No run after this one can be an entry. */
  readonly isEnd?: string;
}

/**
 * Besides the entries (`listed`), the page has the run that ended the reading, for the position of the next page:
 * `is_last_read`, or `is_end` when there is no next page. The thread of a run that is filtered out is not read.
 */
const page = (
  p: ParameterReferences<typeof FILTER>,
  { from, order, columns = [], condition = 'true', isEnd = 'false' }: Source,
): string => `
  select read.*, coalesce(thread.unanswered, false) as unanswered, thread.unanswered is not null as listed,
         case when thread.unanswered then read.requests else '[]'::jsonb end as approvals
  from (
    select ${[RUN_COLUMNS, ...columns].join()}, runs.approvals as requests, runs.created_at::text as position,
           row_number() over (order by ${order}) = ${READ_RUNS} as is_last_read, ${isEnd} as is_end,
           (${p.statuses} is null or runs.status = any(${p.statuses}))
             and (${p.agentIds} is null or runs.agent_id = any(${p.agentIds})) and ${condition} as passes
    from ${from}
    order by ${order} limit ${READ_RUNS}
  ) read
  left join lateral (
    select coalesce(threads.awaiting_run_id = read.id, false) as unanswered
    from threads where threads.id = read.thread_id and read.passes and ${THREAD_EXISTS} limit 1
  ) thread on true
  where thread.unanswered is not null or is_last_read or is_end
  order by ${order} limit ${p.limit}`;

const PAGE = {
  ...FILTER,
  /** Of the run after which the page begins, as the database wrote it, to the microsecond; null for the first page. */
  createdAt: 'text',
  afterId: 'uuid',
} as const;

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const NEWEST_FIRST = 'created_at desc, id desc';

/** @param condition one that an index has in front of its order */
const newestRuns = (p: ParameterReferences<typeof PAGE>, condition: string): string =>
  page(p, {
    from: `runs
    where ${condition} and created_at > coalesce(${p.createdAfter}, '-infinity')
      and (created_at, id) < (coalesce(${p.createdAt}::timestamptz, 'infinity'), coalesce(${p.afterId}, '${LAST_ID}'))`,
    order: NEWEST_FIRST,
  });

export const LIST_RUNS = statement({ ...PAGE, organizationId: 'uuid' }, (p) =>
  newestRuns(p, `organization_id = ${p.organizationId}`),
);

export const LIST_RUNS_OF_THREAD = statement({ ...PAGE, organizationId: 'uuid', threadId: 'uuid' }, (p) =>
  newestRuns(p, `thread_id = ${p.threadId} and organization_id = ${p.organizationId}`),
);

const OPEN_PAGE = {
  ...FILTER,
  afterId: 'uuid',
  /** Requests of runs that ended then or earlier have expired. */
  expiredUntil: 'timestamptz',
} as const;

/**
 * Runs whose requests are open. Sorted by their ids, which sort by creation, because the partial index on the threads
 * has only these. Nothing removes expired ones from it, hence `is_end`. The lateral join keeps the planner from reading
 * all runs.
 */
const openRuns = (p: ParameterReferences<typeof OPEN_PAGE>, condition: string): string =>
  page(p, {
    from: `threads asking
      cross join lateral (select * from runs where runs.id = asking.awaiting_run_id limit 1) runs
    where ${condition} and awaiting_run_id is not null and awaiting_run_id < coalesce(${p.afterId}, '${LAST_ID}')`,
    order: 'awaiting_run_id desc',
    columns: ['awaiting_run_id'],
    condition: `runs.completed_at > ${p.expiredUntil} and runs.created_at > coalesce(${p.createdAfter}, '-infinity')`,
    isEnd: `runs.completed_at <= ${p.expiredUntil} - interval '${EXPIRED_MARGIN}'`,
  });

export const LIST_OPEN_RUNS = statement({ ...OPEN_PAGE, organizationId: 'uuid' }, (p) =>
  openRuns(p, `asking.organization_id = ${p.organizationId}`),
);

export const LIST_OPEN_RUNS_OF_THREAD = statement({ ...OPEN_PAGE, organizationId: 'uuid', threadId: 'uuid' }, (p) =>
  openRuns(p, `asking.id = ${p.threadId} and asking.organization_id = ${p.organizationId}`),
);
