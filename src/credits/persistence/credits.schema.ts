import { defineEntity, p } from '@mikro-orm/core';
import type { ContextSchema } from '../../platform/database/index.js';

export const creditEntries = defineEntity({
  name: 'StoredCreditEntry',
  tableName: 'credit_entries',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    /** Null for suggestions. */
    threadId: p.uuid().strictNullable(),
    provider: p.text(),
    model: p.text(),
    inputTokens: p.bigint('number').strictNullable(),
    outputTokens: p.bigint('number').strictNullable(),
    /** Null in entries of earlier releases. */
    cachedInputTokens: p.bigint('number').strictNullable(),
    /** As text, because sums of floating-point numbers are not exact. */
    credits: p.decimal('string').columnType('numeric(18,4)'),
    createdAt: p.datetime(3),
    /** Whether the sum in `credit_periods` includes it. */
    counted: p.boolean(),
  },
});

/**
 * Entries have no foreign keys. They outlive threads and agents, of which they hold no text. With a reference to the organization, the
 * statement that ends a run would lock the organization's row, which all its runs share and an operator may be changing. The trigger
 * does what the reference would: it fires after cascades have removed threads and runs, whose last entries are committed by then.
 */
const base = [
  `create table credit_entries (
    id uuid primary key,
    organization_id uuid not null,
    agent_id uuid not null,
    thread_id uuid,
    provider text not null,
    model text not null,
    input_tokens bigint,
    output_tokens bigint,
    credits numeric(18,4) not null,
    created_at timestamptz(3) not null,
    counted boolean not null,
    cached_input_tokens bigint
  )`,
  'create index credit_entries_newest on credit_entries (organization_id, created_at desc, id desc)',
  `create index credit_entries_uncounted on credit_entries (organization_id, created_at) include (credits)
    where not counted`,
  // By the first day of the month, in UTC. `exhausted_at`: when the service told that the month's included credits are used up.
  `create table credit_periods (
    organization_id uuid not null,
    month date not null,
    credits_used numeric not null,
    exhausted_at timestamptz(3),
    primary key (organization_id, month)
  )`,
  'create index credit_periods_not_exhausted on credit_periods (month) where exhausted_at is null',
  `create function delete_credits_of_organization() returns trigger language plpgsql as $$
  begin
    delete from credit_entries where organization_id = old.id;
    delete from credit_periods where organization_id = old.id;
    return null;
  end $$`,
  `create trigger with_its_credits after delete on organizations
    for each row execute function delete_credits_of_organization()`,
];

export const creditsSchema: ContextSchema = { entities: [creditEntries], base };
