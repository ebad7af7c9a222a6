/** SQL because a run reads and removes the results of the run that it answers, and the removal of old results skips locked rows. */
import { statement } from '../../platform/database/index.js';

/** A run may have 4 MiB. The number is part of the text, since the plan for an unknown number reads the whole table. */
const REMOVED_AT_ONCE = 20;

/** `runId`: of the run that answers. The removal is a statement of its own, because a read whose answer was lost is repeated. */
export const FIND_KEPT_RESULTS = statement(
  { organizationId: 'uuid', runId: 'uuid' },
  (p) => `
  select asked.kept_results as kept from runs join runs asked on asked.id = runs.answers_run_id
  where runs.organization_id = ${p.organizationId} and runs.id = ${p.runId} and asked.kept_results is not null`,
);

/** `runId`: of the run that has read them. */
export const REMOVE_KEPT_RESULTS = statement(
  { organizationId: 'uuid', runId: 'uuid' },
  (p) => `
  update runs asked set kept_results = null from runs
  where runs.organization_id = ${p.organizationId} and runs.id = ${p.runId} and asked.id = runs.answers_run_id`,
);

/** Of some runs that ended before `endedBefore`, the oldest first. */
export const REMOVE_OLD_KEPT_RESULTS = statement(
  { endedBefore: 'timestamptz' },
  (p) => `
  with overdue as (
    select id from runs where (kept_results is not null or continuation is not null) and completed_at < ${p.endedBefore}
    order by completed_at limit ${REMOVED_AT_ONCE} for no key update skip locked
  )
  update runs set kept_results = null, continuation = null from overdue where runs.id = overdue.id returning runs.id`,
);
