import type * as UserKey from '../src/conversations/domain/user-key.ts';
import type * as Packed from '../src/memory/domain/packed-terms.ts';
import type * as Terms from '../src/memory/domain/terms.ts';
import type * as Usefulness from '../src/memory/domain/usefulness.ts';
import { setTimeout } from 'node:timers/promises';
import type { SqlExecutor } from '../src/platform/database/index.ts';
import { built } from './knowledge-stage.ts';
import { MemoryText, STORED_SEED } from './memory-text.ts';

const HOURS_APART = 12;
const REKEYED_WITHIN_MS = 300_000;

/**
 * Writes memories as saves would: for the user and each of the agents, one for each half day until now. They are ordered by age, so
 * that those of one user are not adjacent on the disk. Writes bare user keys, and returns when the running service has replaced them,
 * which takes up to a minute.
 */
export async function fillMemories(
  database: SqlExecutor,
  agents: readonly string[],
  userId: string,
  count: number,
): Promise<void> {
  const { bareUserKey } = await built<typeof UserKey>('conversations/domain/user-key.js');
  const { packTerms, toBytes } = await built<typeof Packed>('memory/domain/packed-terms.js');
  const { termsOf } = await built<typeof Terms>('memory/domain/terms.js');
  const { usefulnessOf } = await built<typeof Usefulness>('memory/domain/usefulness.js');
  const now = Date.now();
  const memories = sentences(count).map((text, nth) => {
    const at = new Date(now - (count - nth) * HOURS_APART * 3_600_000);
    return {
      text,
      terms: Buffer.from(toBytes(packTerms(termsOf(text)))).toString('base64'),
      usefulness: usefulnessOf(at),
      at: at.toISOString(),
    };
  });
  await database.query(
    `insert into memories (id, organization_id, agent_id, user_key, text, terms, usefulness, created_at, updated_at)
     select gen_random_uuid(), agents.organization_id, agents.id, $2::uuid, text, decode(terms, 'base64'), usefulness, at, at
       from jsonb_to_recordset($3::text::jsonb) as memory(text text, terms text, usefulness double precision, at timestamptz)
      cross join agents where agents.id = any($1::uuid[]) order by at, agents.id`,
    [agents, bareUserKey(userId), JSON.stringify(memories)],
  );
  const bare = async (): Promise<boolean> =>
    (await database.query('select 1 from memories where user_key = $1 limit 1', [bareUserKey(userId)])).length > 0;
  const deadline = Date.now() + REKEYED_WITHIN_MS;
  while (await bare()) {
    if (Date.now() > deadline)
      throw new Error('The service has not replaced the user keys; is a process with jobs running?');
    await setTimeout(1_000);
  }
  await database.query('vacuum analyze memories');
}

function sentences(count: number): string[] {
  const text = new MemoryText(STORED_SEED);
  const made = new Set<string>();
  while (made.size < count) made.add(text.sentence());
  return [...made];
}
