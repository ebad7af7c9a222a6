import { Client } from 'pg';

/** Threads, and the number of messages that they get. */
export interface Seeding {
  readonly messages: number;
  readonly threads: readonly string[];
}

/** Characters of a user's message and of a reply. */
export const SAID = { user: 80, assistant: 200 } as const;

const WORDS = 'the harbour opens at six and the ferry leaves from the second pier when the tide allows it ';

/** Ids like the service's: later rows have larger ids. */
const ID = (at: string): string =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
    || '8' || substr(md5(random()::text), 1, 15))::uuid`;

/**
 * Inserts the rows of runs in the order of concurrent runs of all threads, so that adjacent messages of a thread are not adjacent on the
 * disk. Each run has two messages. $1: threads, $2: runs of each, $3 and $4: texts.
 */
const SEED_SQL = `
  with said as materialized (
    select threads.id as thread_id, threads.organization_id, threads.agent_id, nth, at,
           ${ID('at')} as run_id, ${ID('at')} as user_id, ${ID('at')} as reply_id
    from generate_series(1, $2::int) as nth
    cross join threads
    cross join lateral (select now() - make_interval(secs => ($2::int - nth + 1) * 2) as at) as moment
    where threads.id = any($1::uuid[])
    order by nth, threads.id
  ), ran as (
    insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, created_at, provider, model,
                      use_own_api_key, input_tokens, output_tokens, stop_reason, completed_at)
    select run_id, organization_id, thread_id, agent_id, gen_random_uuid(), reply_id, 'completed', at, 'anthropic',
           'claude-sonnet-4-6', false, 20, 80, 'end', at + interval '1 second'
    from said order by nth, thread_id
  ), touched as (
    update threads set title = 'The harbour', last_message_at = now(), updated_at = now() where id = any($1::uuid[])
  )
  insert into messages (id, organization_id, thread_id, run_id, role, content, status, created_at)
  select id, organization_id, thread_id, run_id, role, content, 'completed', written
  from (
    select user_id as id, organization_id, thread_id, run_id, 'user' as role, $3 as content, at as written, nth, 1 as part
    from said
    union all
    select reply_id, organization_id, thread_id, run_id, 'assistant', $4, at + interval '1 second', nth, 2 from said
  ) as written_messages
  order by nth, part, thread_id`;

/** Fills empty threads with rows like the service's. */
export async function seed(database: URL, seedings: readonly Seeding[]): Promise<void> {
  const client = new Client({ connectionString: database.href });
  await client.connect();
  try {
    for (const { messages, threads } of seedings) {
      await client.query(SEED_SQL, [threads, messages / 2, textOf(SAID.user), textOf(SAID.assistant)]);
    }
    // Otherwise the server might do this during the measurement.
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

function textOf(characters: number): string {
  return WORDS.repeat(Math.ceil(characters / WORDS.length)).slice(0, characters);
}
