/**
 * Hot path: written by hand because each is one statement without a transaction around it, judged by the database's clock alone.
 */
import { statement } from '../../../platform/database/index.js';

/**
 * As many slots as wanted, as far as they are free. A row whose lease is over counts as none. A process that gets none and holds
 * none leaves word, so that those who hold them give some up. Taken from the last: the first is for hosts with a pace.
 */
export const CLAIM_SLOTS = statement(
  { host: 'text', holder: 'uuid', slots: 'integer', wanted: 'integer', leaseSeconds: 'double precision', holdsNone: 'boolean' },
  (p) => `
  with free as (
    select n from generate_series(1, ${p.slots}) n
    where not exists (
      select 1 from crawl_host_slots other where other.host = ${p.host} and other.slot = n and other.leased_until > now())
    order by n desc limit ${p.wanted}
  ), claimed as (
    insert into crawl_host_slots as taken (host, slot, holder, leased_until)
    select ${p.host}, n, ${p.holder}, now() + make_interval(secs => ${p.leaseSeconds}) from free order by n desc
    on conflict (host, slot) do update set holder = excluded.holder, leased_until = excluded.leased_until
      where taken.leased_until <= now()
    returning slot
  ), starving as (
    insert into crawl_hosts (host, wanted_at, wanted_by) select ${p.host}, now(), ${p.holder}
    where ${p.holdsNone} and not exists (select 1 from claimed)
    on conflict (host) do update set wanted_at = excluded.wanted_at, wanted_by = excluded.wanted_by
  ), served as (
    update crawl_hosts set wanted_at = 'epoch'
    where host = ${p.host} and wanted_by = ${p.holder} and wanted_at > 'epoch' and exists (select 1 from claimed)
  )
  select slot from claimed`,
);

/**
 * The first slot, if it is free and the host's pause is over. Who moves the pause on has the turn: two that find it over both
 * wait for the row, and the second then sees it moved.
 */
export const CLAIM_TURN = statement(
  { host: 'text', holder: 'uuid', delaySeconds: 'double precision', leaseSeconds: 'double precision' },
  (p) => `
  with turn as (
    insert into crawl_hosts as known (host, next_at) select ${p.host}, now() + make_interval(secs => ${p.delaySeconds})
    where not exists (
      select 1 from crawl_host_slots other where other.host = ${p.host} and other.slot = 1 and other.leased_until > now())
    on conflict (host) do update set next_at = excluded.next_at where known.next_at <= now()
    returning host
  ), claimed as (
    insert into crawl_host_slots as taken (host, slot, holder, leased_until)
    select host, 1, ${p.holder}, now() + make_interval(secs => ${p.leaseSeconds}) from turn
    on conflict (host, slot) do update set holder = excluded.holder, leased_until = excluded.leased_until
      where taken.leased_until <= now()
    returning slot
  )
  select exists (select 1 from claimed) as claimed,
    (select extract(epoch from next_at - now()) * 1000 from crawl_hosts where host = ${p.host})::double precision as wait_ms`,
);

/** The slots that are still the holder's, and whether another process has none and wants one. */
export const RENEW_SLOTS = statement(
  { host: 'text', holder: 'uuid', slots: 'text[]', leaseSeconds: 'double precision', wantedSeconds: 'double precision' },
  (p) => `
  update crawl_host_slots set leased_until = now() + make_interval(secs => ${p.leaseSeconds})
  where host = ${p.host} and holder = ${p.holder} and slot = any(${p.slots}::smallint[])
  returning slot, exists (
    select 1 from crawl_hosts where crawl_hosts.host = ${p.host} and wanted_by <> ${p.holder}
      and wanted_at > now() - make_interval(secs => ${p.wantedSeconds})) as wanted`,
);

export const RELEASE_SLOTS = statement(
  { host: 'text', holder: 'uuid', slots: 'text[]' },
  (p) => `delete from crawl_host_slots where host = ${p.host} and holder = ${p.holder} and slot = any(${p.slots}::smallint[])`,
);

/** The pause is counted from the request, which began some time after its turn was claimed. */
export const RELEASE_TURN = statement(
  { host: 'text', holder: 'uuid', restSeconds: 'double precision' },
  (p) => `
  with released as (
    delete from crawl_host_slots where host = ${p.host} and holder = ${p.holder} and slot = 1 returning host
  )
  update crawl_hosts set next_at = greatest(next_at, now() + make_interval(secs => ${p.restSeconds}))
  where host in (select host from released)`,
);

export const HOLD_BACK = statement(
  { host: 'text', seconds: 'double precision' },
  (p) => `
  insert into crawl_hosts as known (host, next_at) values (${p.host}, now() + make_interval(secs => ${p.seconds}))
  on conflict (host) do update set next_at = greatest(known.next_at, excluded.next_at)`,
);

export const PAUSES = statement(
  { hosts: 'text[]' },
  (p) => `
  select host, (extract(epoch from next_at - now()) * 1000)::double precision as ms from crawl_hosts
   where host = any(${p.hosts}) and next_at > now()`,
);

export const RELEASE_ALL = statement({ holder: 'uuid' }, (p) => `delete from crawl_host_slots where holder = ${p.holder}`);

export const FORGET_HOSTS = statement(
  { idleSeconds: 'double precision' },
  (p) => `
  with slots as (
    delete from crawl_host_slots where leased_until < now() - make_interval(secs => ${p.idleSeconds})
  )
  delete from crawl_hosts where greatest(next_at, wanted_at) < now() - make_interval(secs => ${p.idleSeconds})`,
);
