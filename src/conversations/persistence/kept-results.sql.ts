/**
 * Written by hand because what is taken is read and removed in one statement, which answers the value from before it,
 * and what is overdue is found by the index of the few runs that have anything, in whatever state the statistics are.
 */
import { statement } from '../../platform/database/index.js';

/** Each may have 4 MiB. In the text of the statement, since a plan for any number of rows reads the whole table. */
const FORGOTTEN_AT_ONCE = 20;

/** `runId`: of the run that goes on. */
export const TAKE_KEPT_RESULTS = statement(
  { organizationId: 'uuid', runId: 'uuid' },
  (p) => `
  with asked as (
    select asked.id, asked.kept_results as kept from runs join runs asked on asked.id = runs.answers_run_id
    where runs.organization_id = ${p.organizationId} and runs.id = ${p.runId} and asked.kept_results is not null
  )
  update runs set kept_results = null from asked where runs.id = asked.id returning asked.kept`,
);

/** Of some runs that ended before `endedBefore`, the oldest first; those that another caller has locked are left to it. */
export const FORGET_KEPT_RESULTS = statement(
  { endedBefore: 'timestamptz' },
  (p) => `
  with overdue as (
    select id from runs where kept_results is not null and completed_at < ${p.endedBefore}
    order by completed_at limit ${FORGOTTEN_AT_ONCE} for no key update skip locked
  )
  update runs set kept_results = null from overdue where runs.id = overdue.id returning runs.id`,
);
