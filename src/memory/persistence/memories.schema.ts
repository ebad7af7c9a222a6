import { isBareUser } from '../../conversations/index.js';
import { type ContextSchema, migration } from '../../platform/database/index.js';

/**
 * No foreign key leads to the agent: a job removes what an agent that is gone has left, in batches. Whatever is read or
 * written goes by the index, which begins with whose it is and has the most useful ones first. `terms` are sorted digests
 * (`PackedTerms`); `vector` is that of the text, by `vector_model`. All of them change with the text.
 */
const init = migration('2026112510_memory_init', [
  `create table memories (
    id uuid primary key,
    organization_id uuid not null,
    agent_id uuid not null,
    user_key uuid not null,
    text text not null,
    terms bytea not null,
    usefulness double precision not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    vector bytea,
    vector_model text
  )`,
  // Not compressed, so that the beginning is read without the rest.
  'alter table memories alter column terms set storage external',
  'create index memories_of_user on memories (agent_id, user_key, usefulness desc, id)',
]);

/** For the re-keying of users of earlier releases; the index is empty once all are re-keyed. */
const bareUsers = migration('2026112723_memory_bare_users', [
  `create index memories_of_bare_users on memories (organization_id, user_key) where ${isBareUser('user_key')}`,
]);

export const memoriesSchema: ContextSchema = { entities: [], migrations: [init, bareUsers] };
