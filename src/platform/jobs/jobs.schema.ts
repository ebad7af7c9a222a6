import { type ContextSchema, migration } from '../database/index.js';

export const jobsSchema: ContextSchema = {
  entities: [],
  base: [
    // `available_at` is the time of the relay's next check, so it does not show how long a job has been due.
    `create table outbox (
      id uuid primary key,
      name text not null,
      payload jsonb not null,
      dedupe_key text,
      state text not null default 'pending' check (state in ('pending', 'dispatched', 'dead')),
      attempts integer not null default 0,
      created_at timestamptz not null,
      available_at timestamptz not null,
      started_at timestamptz,
      died_at timestamptz,
      last_error text,
      due_at timestamptz not null default now()
    )`,
    `create index outbox_due on outbox (available_at) where state <> 'dead'`,
    `create index outbox_dead on outbox (died_at) where state = 'dead'`,
    `create unique index outbox_waiting_once on outbox (name, dedupe_key)
      where dedupe_key is not null and started_at is null`,
  ],
  migrations: [
    /** The processes that work on jobs, and when each has reported last. */
    migration('2026112940_platform_job_workers', [
      'create table job_workers (id uuid primary key, seen_at timestamptz not null)',
    ]),
  ],
};
