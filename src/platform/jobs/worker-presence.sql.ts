/** SQL because the ORM has no upsert beside a deletion, and the table has no entity. */
import { statement } from '../database/index.js';

/** Removes the rows of processes that died long ago. */
export const REPORT = statement(
  { id: 'uuid', now: 'timestamptz', forgottenBefore: 'timestamptz' },
  (p) => `
  with forgotten as (delete from job_workers where seen_at < ${p.forgottenBefore})
  insert into job_workers (id, seen_at) values (${p.id}, ${p.now}) on conflict (id) do update set seen_at = excluded.seen_at`,
);

export const RETIRE = statement({ id: 'uuid' }, (p) => `delete from job_workers where id = ${p.id}`);

export const COUNT = statement(
  { since: 'timestamptz' },
  (p) => `select count(*)::int as workers from job_workers where seen_at >= ${p.since}`,
);
