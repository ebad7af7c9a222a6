/**
 * SQL because every delivery passes these statements, some hundred of which share one, and because the ORM can express neither the walk
 * over the endpoints nor updates that depend on what another process writes. Leases are by the database's clock, which all processes
 * share; the rest is by the service's.
 */
import { insertRows, type Statement, statement, type TableRows } from '../../platform/database/index.js';

/**
 * The endpoints with pending deliveries, each found by one descent of the index. `select distinct` would read all the deliveries that an
 * endpoint with a backlog has.
 */
const OWING = `
  owing as (
    (select endpoint_id from webhook_deliveries where status = 'pending' order by endpoint_id limit 1)
    union all
    select (select following.endpoint_id from webhook_deliveries following
            where following.status = 'pending' and following.endpoint_id > owing.endpoint_id
            order by following.endpoint_id limit 1)
    from owing where owing.endpoint_id is not null
  )`;

/** For events that no run is the cause of; the end of a run inserts its own. */
export function addDeliveries(table: TableRows): Statement<{ rows: 'jsonb' }> {
  return statement({ rows: 'jsonb' }, (p) => insertRows(table, p.rows, '(select 1) as once'));
}

export interface LeasedRow {
  readonly id: string;
  readonly organization_id: string;
}

/**
 * Leases endpoints with due deliveries that no process serves, the one that has waited longest first. Deliveries of endpoints that are
 * switched off or deleted have failed: the update of a few each time also catches those of runs that ended at the same moment. It waits
 * for no row: the removal of a deleted endpoint's deliveries would delay those of every organization, or end in a deadlock.
 */
export const LEASE_DUE = statement(
  { leaseId: 'uuid', leaseSeconds: 'double precision', now: 'timestamptz', limit: 'integer', failLimit: 'integer' },
  (p) => `
  with recursive ${OWING}, abandoned as (
    update webhook_deliveries set status = 'failed', next_attempt_at = null
    where (endpoint_id, event_id) in (
      select pending.endpoint_id, pending.event_id
      from owing join webhook_deliveries pending on pending.endpoint_id = owing.endpoint_id and pending.status = 'pending'
      where not exists (select 1 from webhook_endpoints where id = owing.endpoint_id and enabled)
      limit ${p.failLimit} for update of pending skip locked)
  )
  update webhook_endpoints set lease_id = ${p.leaseId}, leased_until = now() + make_interval(secs => ${p.leaseSeconds})
  where id = any(array(
    select endpoint.id from webhook_endpoints endpoint join owing on owing.endpoint_id = endpoint.id
    where endpoint.enabled and (endpoint.leased_until is null or endpoint.leased_until < now())
      and exists (select 1 from webhook_deliveries due
                  where due.endpoint_id = endpoint.id and due.status = 'pending' and due.next_attempt_at <= ${p.now})
    order by endpoint.leased_until nulls first limit ${p.limit} for update of endpoint skip locked))
  returning id::text as id, organization_id::text as organization_id`,
);

/** Returns the endpoints that the process still serves. */
export const RENEW_LEASES = statement(
  { leaseId: 'uuid', leaseSeconds: 'double precision', ids: 'uuid[]' },
  (p) => `
  update webhook_endpoints set leased_until = now() + make_interval(secs => ${p.leaseSeconds})
  where id = any(${p.ids}) and lease_id = ${p.leaseId} returning id::text as id`,
);

/** `leased_until` stays: the endpoint that was served last has its turn last. */
export const END_LEASES = statement(
  { leaseId: 'uuid', ids: 'uuid[]' },
  (p) => `
  update webhook_endpoints set lease_id = null, leased_until = now() - interval '1 microsecond'
  where id = any(${p.ids}) and lease_id = ${p.leaseId}`,
);

export interface DueRow {
  readonly url: string;
  readonly failing: boolean;
  readonly event_id: string;
  readonly type: string;
  readonly data: string;
  readonly created_at: string;
  readonly tries: number;
}

/** No row unless the process has the lease and the endpoint is enabled. */
export const LOAD_DUE = statement(
  { endpointId: 'uuid', leaseId: 'uuid', now: 'timestamptz', limit: 'integer' },
  (p) => `
  select endpoint.url, endpoint.failing_since is not null as failing,
         due.event_id::text as event_id, due.type, due.data::text as data, due.created_at, due.tries
  from webhook_endpoints endpoint
  join webhook_deliveries due on due.endpoint_id = endpoint.id and due.status = 'pending' and due.next_attempt_at <= ${p.now}
  where endpoint.id = ${p.endpointId} and endpoint.enabled and endpoint.lease_id = ${p.leaseId} and endpoint.leased_until > now()
  order by due.next_attempt_at limit ${p.limit}`,
);

/** The delivery was not sent again by hand since the attempt began. */
const COUNTS = `result.status = 'delivered' or delivery.tries = result.tries - 1`;

/**
 * Stores attempts and what follows from them, for the deliveries and for the endpoints. A result of an attempt that began before the
 * endpoint was switched off does not make the delivery pending again, and one of an attempt that was under way when the delivery was sent
 * again by hand changes none of that. A 410 switches off only the address that sent it.
 */
export const STORE_RESULTS = statement(
  { results: 'jsonb', keptAttempts: 'integer' },
  (p) => `
  with results as (
    select * from jsonb_to_recordset(${p.results}) as result (endpoint_id uuid, event_id uuid, status text, tries integer,
      attempt jsonb, ended_at timestamptz, next_attempt_at timestamptz, gone_url text)
  ), stored as (
    update webhook_deliveries delivery set
      status = case when ${COUNTS} then result.status else delivery.status end,
      tries = case when ${COUNTS} then result.tries else delivery.tries end,
      next_attempt_at = case when ${COUNTS} then result.next_attempt_at else delivery.next_attempt_at end,
      delivered_at = case when result.status = 'delivered' then result.ended_at end,
      attempts = case when jsonb_array_length(delivery.attempts) < ${p.keptAttempts} then delivery.attempts
                      else delivery.attempts - 0 end || result.attempt
    from results result
    where delivery.endpoint_id = result.endpoint_id and delivery.event_id = result.event_id
      and (delivery.status = 'pending' or result.status = 'delivered')
  ), outcomes as (
    select endpoint_id, bool_or(status = 'delivered') as delivered, min(ended_at) as ended_at, max(gone_url) as gone_url
    from results group by endpoint_id
  )
  update webhook_endpoints endpoint set
    failing_since = case when not outcome.delivered then coalesce(endpoint.failing_since, outcome.ended_at) end,
    enabled = endpoint.enabled and outcome.gone_url is distinct from endpoint.url,
    disabled_reason = case when endpoint.enabled and outcome.gone_url = endpoint.url then 'gone' else endpoint.disabled_reason end
  from outcomes outcome
  where endpoint.id = outcome.endpoint_id
    and ((endpoint.failing_since is null) <> outcome.delivered or outcome.gone_url = endpoint.url)`,
);

/** Of enabled endpoints; null without any. */
export const OLDEST_DUE = statement(
  { now: 'timestamptz' },
  (p) => `
  with recursive ${OWING}
  select extract(epoch from ${p.now} - min(oldest.next_attempt_at))::float8 as seconds
  from owing join webhook_endpoints endpoint on endpoint.id = owing.endpoint_id and endpoint.enabled
  cross join lateral (
    select pending.next_attempt_at from webhook_deliveries pending
    where pending.endpoint_id = owing.endpoint_id and pending.status = 'pending' order by pending.next_attempt_at limit 1
  ) oldest`,
);

export const SWITCH_OFF_FAILING = statement(
  { before: 'timestamptz' },
  (p) => `
  update webhook_endpoints set enabled = false, disabled_reason = 'failing'
  where enabled and failing_since <= ${p.before} returning id::text as id, organization_id::text as organization_id`,
);

export const PURGE_DELIVERIES = statement(
  { before: 'timestamptz', limit: 'integer' },
  (p) => `
  delete from webhook_deliveries where (endpoint_id, event_id) in (
    select endpoint_id, event_id from webhook_deliveries where created_at < ${p.before}
    order by created_at limit ${p.limit} for update skip locked)
  returning 1 as purged`,
);

/** Does nothing while the endpoint exists. */
export const REMOVE_DELIVERIES = statement(
  { endpointId: 'uuid', limit: 'integer' },
  (p) => `
  delete from webhook_deliveries where endpoint_id = ${p.endpointId} and event_id = any(array(
    select event_id from webhook_deliveries where endpoint_id = ${p.endpointId}
      and not exists (select 1 from webhook_endpoints where id = ${p.endpointId}) limit ${p.limit}))
  returning 1 as removed`,
);

/** Sent several times a second by every process, so not by the query builder. */
export const SUBSCRIBED_ORGANIZATIONS = statement({}, () => 'select distinct organization_id from webhook_endpoints');
