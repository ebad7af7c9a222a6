/** Written by hand because each is one statement without a transaction that compares times by the database's clock: the clocks of processes differ. */
import { statement } from '../../../platform/database/index.js';

/** No row where another process has the lease. */
export const LEASE = statement(
  { host: 'text', holder: 'uuid', leaseSeconds: 'double precision' },
  (p) => `
  insert into crawl_hosts as known (host, holder, leased_until) values (${p.host}, ${p.holder}, now() + make_interval(secs => ${p.leaseSeconds}))
  on conflict (host) do update set holder = excluded.holder, leased_until = excluded.leased_until where known.leased_until <= now()
  returning greatest(extract(epoch from next_at - now()) * 1000, 0)::double precision as "pauseMs"`,
);

export const BUSY = statement(
  { host: 'text' },
  (p) =>
    `select greatest(extract(epoch from leased_until - now()) * 1000, 0)::double precision as "busyMs" from crawl_hosts where host = ${p.host}`,
);

export const RENEW = statement(
  { host: 'text', holder: 'uuid', leaseSeconds: 'double precision' },
  (p) => `
  update crawl_hosts set leased_until = now() + make_interval(secs => ${p.leaseSeconds}) where host = ${p.host} and holder = ${p.holder} returning 1 as one`,
);

export const RELEASE = statement(
  { host: 'text', holder: 'uuid', pauseSeconds: 'double precision' },
  (p) => `
  update crawl_hosts set holder = null, leased_until = 'epoch', next_at = greatest(next_at, now() + make_interval(secs => ${p.pauseSeconds}))
   where host = ${p.host} and holder = ${p.holder}`,
);

export const DELETE_IDLE = statement(
  { idleSeconds: 'double precision' },
  (p) =>
    `delete from crawl_hosts where greatest(next_at, leased_until, wanted_at) < now() - make_interval(secs => ${p.idleSeconds})`,
);
