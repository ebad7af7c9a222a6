/**
 * SQL because one data-modifying CTE moves entries into the sums, and one statement reads both: so each sees every entry exactly once,
 * whatever other processes do. Runs of organizations with a limit wait for `USED_IN_MONTH`.
 */
import { statement } from '../../platform/database/index.js';

const monthOf = (moment: string): string => `date_trunc('month', ${moment} at time zone 'UTC')`;

/**
 * Adds entries to the sums of their months. It skips entries that another process has locked, and updates months in one order, so
 * that two processes do not deadlock.
 */
export const COUNT_ENTRIES = statement(
  { limit: 'integer' },
  (p) => `
  with uncounted as (
    select id from credit_entries where not counted
    order by organization_id, created_at limit ${p.limit} for no key update skip locked
  ), counted as (
    update credit_entries set counted = true from uncounted where credit_entries.id = uncounted.id
    returning organization_id, ${monthOf('created_at')}::date as month, credits
  ), summed as (
    insert into credit_periods (organization_id, month, credits_used)
    select organization_id, month, sum(credits) from counted group by 1, 2 order by 1, 2
    on conflict (organization_id, month) do update
      set credits_used = credit_periods.credits_used + excluded.credits_used
  )
  select count(*)::int as entries from counted`,
);

/**
 * Every month from the organization's creation to now, newest first. An entry or a sum outside of this span, which a clock that was set
 * back leaves, extends it. `before` limits the result to earlier months.
 */
export const LIST_PERIODS = statement(
  { organizationId: 'uuid', since: 'timestamptz', now: 'timestamptz', before: 'timestamptz', limit: 'integer' },
  (p) => `
  with sums as (
    select month from credit_periods where organization_id = ${p.organizationId}
  ), span as (
    select least(${monthOf(`least(min(created_at), ${p.since})`)}, (select min(month) from sums)) as first,
      greatest(${monthOf(`greatest(max(created_at), ${p.now})`)}, (select max(month) from sums)) as last
    from credit_entries where organization_id = ${p.organizationId}
  ), months as (
    select month::date from span, generate_series(span.last, span.first, interval '-1 month') month
    where ${p.before} is null or month < ${p.before} at time zone 'UTC'
    order by 1 desc limit ${p.limit}
  ), uncounted as (
    select ${monthOf('created_at')}::date as month, sum(credits) as credits from credit_entries
    where organization_id = ${p.organizationId} and not counted group by 1
  )
  select to_char(months.month, 'YYYY-MM-DD') as month, (coalesce(kept.credits_used, 0) + coalesce(uncounted.credits, 0))::text as credits
  from months
    left join credit_periods kept on kept.organization_id = ${p.organizationId} and kept.month = months.month
    left join uncounted on uncounted.month = months.month
  order by months.month desc`,
);

/** `month`, `next`: the first moments of the month and of the next one. */
export const USED_IN_MONTH = statement(
  { organizationId: 'uuid', month: 'timestamptz', next: 'timestamptz' },
  (p) => `
  select (
    coalesce((select credits_used from credit_periods
      where organization_id = ${p.organizationId} and month = ${monthOf(p.month)}::date), 0)
    + coalesce((select sum(credits) from credit_entries
      where organization_id = ${p.organizationId} and not counted
        and created_at >= ${p.month} and created_at < ${p.next}), 0)
  )::text as credits`,
);

/**
 * Marks months whose sums have reached the included credits, each once. `since`: the first moment of the earliest month that counts,
 * because the last entries of a month are counted shortly after it. The included credits are those that are set now.
 */
export const MARK_EXHAUSTED = statement(
  { since: 'timestamptz', now: 'timestamptz' },
  (p) => `
  update credit_periods period set exhausted_at = ${p.now} from organizations
  where organizations.id = period.organization_id and period.exhausted_at is null
    and period.month >= ${monthOf(p.since)}::date and period.credits_used >= organizations.credits_included
  returning period.organization_id::text as organization_id, to_char(period.month, 'YYYY-MM-DD') as month`,
);

/** Organization by organization, each by its index: there is none of all entries by age. Entries that are in no sum yet stay. */
export const PURGE_ENTRIES = statement(
  { before: 'timestamptz', limit: 'integer' },
  (p) => `
  delete from credit_entries where id = any(array(
    select old.id from organizations cross join lateral (
      select id from credit_entries
      where credit_entries.organization_id = organizations.id and created_at < ${p.before} and counted limit ${p.limit}
    ) old limit ${p.limit}
  )) returning id`,
);
