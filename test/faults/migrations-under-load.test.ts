import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import {
  BASE,
  type ContextSchema,
  indexMigration,
  migrate,
  migration,
  migrationsOf,
  type OpenDatabase,
  openDatabase,
} from '../../src/platform/database/index.js';
import { readSettings } from '../../src/platform/config/index.js';
import { schemas } from '../../src/schemas.js';
import { clusterOnly } from '../support/modes.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { clusterVariables } from '../support/mode-environment.js';

// Filling the tables takes most of the time.
jest.setTimeout(600_000);

const THREADS = 20_000;
const MESSAGES = 2_000_000;
const CUSTOMERS = 4;
/** The longest that a statement of the service may wait for a lock of a migration. */
const LONGEST_WAIT_MS = 500;
const SAMPLE_MS = 10;
/** As long as a report of a customer's data may read a table. */
const REPORT_MS = 3_000;

const ORGANIZATION = '018f0000-0000-7000-8000-000000000001';
const AGENT = '018f0000-0000-7000-8000-000000000002';
const OWNER = '018f0000-0000-7000-8000-000000000003';

const [base, ...later] = migrationsOf(schemas);

/** One of each kind that the rules for migrations allow, on the largest tables. */
const KINDS = [
  migration('2999010100_test_column', ['alter table messages add column test_note text']),
  migration('2999010101_test_default', ['alter table messages add column test_count integer not null default 0']),
  migration('2999010102_test_check', [
    'alter table messages add constraint test_count_check check (test_count >= 0) not valid',
  ]),
  migration('2999010103_test_valid', ['alter table messages validate constraint test_count_check']),
  indexMigration('2999010104_test_index', 'messages_test', 'on messages (organization_id, created_at)'),
  indexMigration('2999010105_test_index', 'runs_test', 'on runs (agent_id, created_at)'),
  migration('2999010106_test_table', ['create table test_notes (id uuid primary key references threads (id))']),
];

const atBase: ContextSchema = { entities: [], migrations: base ? [base] : [] };
const newest: ContextSchema = { entities: [], migrations: [...atBase.migrations!, ...later, ...KINDS] };

clusterOnly(`migrations of a database with ${MESSAGES} messages that is in use`, () => {
  let database: TestDatabase;
  let open: OpenDatabase;
  const clients: Client[] = [];

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    clients.push(client);
    return client;
  }

  beforeAll(async () => {
    database = await openTestDatabase([atBase]);
    await fill(await connect());
    const settings = readSettings(clusterVariables(database.url ?? ''), { role: 'all', demo: false });
    open = await openDatabase(settings, [newest]);
  });
  afterAll(async () => {
    await open.close();
    await Promise.all(clients.map((client) => client.end()));
    await database.close();
  });

  it(`make no statement of the service wait for over ${LONGEST_WAIT_MS} ms, also while a report reads the table`, async () => {
    const stopped = new AbortController();
    const customers = Array.from({ length: CUSTOMERS }, async () => converse(await connect(), stopped.signal));
    const waits = watchLocks(await connect(), stopped.signal);
    const reading = report(await connect());
    const ran = await migrate(open);
    await reading;
    stopped.abort();
    const exchanges = await Promise.all(customers);
    const longest = await waits;

    expect(ran).toEqual(newest.migrations?.slice(1).map(({ name }) => name));
    expect(Math.min(...exchanges)).toBeGreaterThan(10);
    // The report has blocked the first migrations, and these the customers.
    expect(longest).toBeGreaterThan(50);
    expect(longest).toBeLessThan(LONGEST_WAIT_MS);
  });

  it('has them all afterwards, with valid indexes', async () => {
    const [invalid] = await database.database.query<{ count: string }>(
      'select count(*) as count from pg_index where not indisvalid',
    );
    expect(invalid).toEqual({ count: '0' });
    expect(newest.migrations?.[0]?.name).toBe(BASE);
    expect(await migrate(open)).toEqual([]);
  });
});

async function fill(client: Client): Promise<void> {
  await client.query('set synchronous_commit = off');
  await client.query(
    `insert into organizations (id, name, plan, features, created_at) values ($1, 'Acme', 'free', '{}', now())`,
    [ORGANIZATION],
  );
  await client.query(
    `insert into threads (id, organization_id, agent_id, channel, created_at, updated_at, last_message_at)
     select gen_random_uuid(), $1, $2, 'api', now(), now(), now() from generate_series(1, $3)`,
    [ORGANIZATION, AGENT, THREADS],
  );
  // Foreign keys of rows that are right: checking each takes longer than inserting it.
  await client.query(`set session_replication_role = 'replica'`);
  await client.query(
    `insert into messages (id, organization_id, thread_id, role, content, status, created_at)
     select gen_random_uuid(), $1, threads.id, case n % 2 when 0 then 'assistant' else 'user' end,
            'The parcel of order ' || n || ' is on its way.', 'completed', now()
     from threads, generate_series(1, $2) n`,
    [ORGANIZATION, MESSAGES / THREADS],
  );
  await client.query(`set session_replication_role = 'origin'`);
  await client.query('analyze');
}

/** What exchanges do to the tables: starts and ends of runs, reads and deletions. @returns how many there were */
async function converse(client: Client, stopped: AbortSignal): Promise<number> {
  let exchanges = 0;
  for (; !stopped.aborted; exchanges += 1) {
    const { rows } = await client.query<{ id: string }>(
      `insert into threads (id, organization_id, agent_id, channel, created_at, updated_at)
       values (gen_random_uuid(), $1, $2, 'api', now(), now()) returning id`,
      [ORGANIZATION, AGENT],
    );
    const threadId = rows[0]?.id;
    await client.query(
      `with run as (
         insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, provider, model, use_own_api_key, created_at)
         values (gen_random_uuid(), $1, $2, $3, $4, gen_random_uuid(), 'running', 'anthropic', 'm', false, now()) returning *)
       insert into messages (id, organization_id, thread_id, run_id, role, content, status, created_at)
       select gen_random_uuid(), organization_id, thread_id, id, 'user', 'Where is it?', 'completed', now() from run`,
      [ORGANIZATION, threadId, AGENT, OWNER],
    );
    await client.query(`update runs set status = 'completed', completed_at = now() where thread_id = $1`, [threadId]);
    await client.query('select * from messages where thread_id = $1 order by seq desc limit 200', [threadId]);
    if (exchanges % 3 === 0) await client.query('delete from threads where id = $1', [threadId]);
    await setTimeout(2);
  }
  return exchanges;
}

async function report(client: Client): Promise<void> {
  await client.query('begin');
  await client.query('lock table messages, runs in access share mode');
  await setTimeout(REPORT_MS);
  await client.query('commit');
}

/** @returns the longest wait for the lock of a table, in milliseconds, without those of the migrations themselves */
async function watchLocks(client: Client, stopped: AbortSignal): Promise<number> {
  let longest = 0;
  while (!stopped.aborted) {
    const { rows } = await client.query<{ ms: number | null }>(
      `select max(extract(epoch from clock_timestamp() - waitstart) * 1000)::float8 as ms
       from pg_locks join pg_stat_activity activity using (pid)
       where not granted and locktype = 'relation' and activity.datname = current_database()
         and activity.query !~ '^\\s*(alter|create|drop)'`,
    );
    longest = Math.max(longest, rows[0]?.ms ?? 0);
    await setTimeout(SAMPLE_MS);
  }
  return longest;
}
