import { type ContextSchema, migration } from '../database/index.js';

export const jobsSchema: ContextSchema = {
  entities: [],
  migrations: [
    migration('2026112100_platform_outbox', [
      `create table outbox (
        id uuid primary key,
        name text not null,
        payload jsonb not null,
        dedupe_key text,
        state text not null default 'pending' check (state in ('pending', 'handed_over', 'dead')),
        attempts integer not null default 0,
        created_at timestamptz not null,
        available_at timestamptz not null,
        started_at timestamptz,
        died_at timestamptz,
        last_error text
      )`,
      `create index outbox_due on outbox (available_at) where state <> 'dead'`,
      `create index outbox_dead on outbox (died_at) where state = 'dead'`,
      `create unique index outbox_waiting_once on outbox (name, dedupe_key)
        where dedupe_key is not null and started_at is null`,
    ]),
    migration('2026112201_platform_outbox_dispatched', [
      'alter table outbox drop constraint outbox_state_check',
      `update outbox set state = 'dispatched' where state = 'handed_over'`,
      `alter table outbox add constraint outbox_state_check check (state in ('pending', 'dispatched', 'dead'))`,
    ]),
    // `available_at` is the time of the relay's next check, so it does not show how long a job has been due.
    migration('2026112440_platform_outbox_due', [
      // With a default, because processes of the former release insert rows without it during the upgrade.
      'alter table outbox add column due_at timestamptz not null default now()',
      'update outbox set due_at = created_at',
    ]),
  ],
};
