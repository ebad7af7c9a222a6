import { type ContextSchema, migration } from '../../../platform/database/index.js';

/** Of hosts, not of organizations: a server that is crawled does not care for whom. There are rows only while a host is asked or paced. */
const hostSlots = migration('2026112330_crawl_host_slots', [
  `create table crawl_host_slots (
    host text not null,
    slot smallint not null,
    holder uuid not null,
    leased_until timestamptz not null,
    primary key (host, slot)
  )`,
  `create index crawl_host_slots_leased_until on crawl_host_slots (leased_until)`,
  `create table crawl_hosts (
    host text primary key,
    next_at timestamptz not null default 'epoch',
    wanted_at timestamptz not null default 'epoch',
    wanted_by uuid
  )`,
]);

export const crawlSchema: ContextSchema = { entities: [], migrations: [hostSlots] };
