/**
 * SQL because the ORM cannot say these: the recall is on the path of every run with a user and is planned once; the others cut,
 * encode or compare columns in the database, write from a selection, or walk an index from agent to agent.
 */
import { statement } from '../../platform/database/index.js';
import { usedOnceMore } from '../domain/usefulness.js';

const OWNER = { organizationId: 'uuid', agentId: 'uuid', userKey: 'uuid' } as const;
/** Starts with the columns that the index starts with. */
const ownedBy = (p: { readonly [Name in keyof typeof OWNER]: string }): string =>
  `agent_id = ${p.agentId} and user_key = ${p.userKey} and organization_id = ${p.organizationId}`;
const COLUMNS = 'id::text as id, text, created_at, updated_at';

/** Returns no row if there is no memory; `total` also counts the memories beyond the limit. */
export const RECALL = statement(
  { ...OWNER, limit: 'integer', characters: 'integer' },
  (p) => `
  with owned as (
    select id, left(text, ${p.characters}) as text, created_at, updated_at, usefulness from memories where ${ownedBy(p)}
  ), total as (
    select count(*)::int as total from memories where ${ownedBy(p)}
  )
  select id::text as id, text, created_at, updated_at, total from owned, total
  order by usefulness desc, id limit ${p.limit}`,
);

/** Binary columns come as base64: the embedded database's driver reads bytes one by one, ten times as slowly. */
export const COMPARABLE_PAGE = statement(
  { ...OWNER, after: 'uuid', limit: 'integer', model: 'text' },
  (p) => `
  select id::text as id, encode(terms, 'base64') as terms,
         case when vector_model = ${p.model} then encode(vector, 'base64') end as vector,
         ${p.model} is not null and vector_model is distinct from ${p.model} as lacks_vector
  from memories where ${ownedBy(p)} and id > coalesce(${p.after}, '00000000-0000-0000-0000-000000000000')
  order by id limit ${p.limit}`,
);

/** The column is stored uncompressed, so PostgreSQL reads only these first bytes. */
export const TERM_SAMPLES = statement(
  { ...OWNER, bytes: 'integer' },
  (p) => `select id::text as id, substring(terms from 1 for ${p.bytes}) as terms from memories where ${ownedBy(p)}`,
);

export const FIND_BY_CODE = statement(
  { ...OWNER, code: 'text' },
  (p) => `select ${COLUMNS} from memories where ${ownedBy(p)} and right(id::text, length(${p.code})) = ${p.code}`,
);

const WRITTEN = { id: 'uuid', text: 'text', terms: 'bytea', at: 'timestamptz', once: 'double precision' } as const;

/** Writes nothing if the agent has been deleted: no route could read or erase the memory then. */
export const INSERT = statement(
  { ...OWNER, ...WRITTEN },
  (p) => `
  insert into memories (id, organization_id, agent_id, user_key, text, terms, usefulness, created_at, updated_at)
  select ${p.id}, ${p.organizationId}, ${p.agentId}, ${p.userKey}, ${p.text}, ${p.terms}, ${p.once}, ${p.at}, ${p.at}
  from agents where agents.id = ${p.agentId} and agents.organization_id = ${p.organizationId}`,
);

export const REPLACE = statement(
  { ...OWNER, ...WRITTEN, replacedId: 'uuid' },
  (p) => `
  update memories set id = ${p.id}, text = ${p.text}, terms = ${p.terms}, updated_at = ${p.at}, vector = null, vector_model = null,
                      usefulness = ${usedOnceMore('usefulness', p.once)}
  where ${ownedBy(p)} and id = ${p.replacedId}`,
);

export const COUNT_USE = statement(
  { ...OWNER, ids: 'uuid[]', once: 'double precision' },
  (p) => `
  update memories set usefulness = ${usedOnceMore('usefulness', p.once)} where ${ownedBy(p)} and id = any(${p.ids})
  returning ${COLUMNS}`,
);

export const REMOVE_LEAST_USEFUL = statement(
  { ...OWNER, except: 'uuid', keep: 'integer' },
  (p) => `
  delete from memories where id in (
    select id from memories where ${ownedBy(p)} and id <> ${p.except} order by usefulness desc, id offset ${p.keep})`,
);

/** Skips memories whose text has changed since it was embedded. */
export const SAVE_VECTORS = statement(
  { ...OWNER, model: 'text', ids: 'uuid[]', texts: 'text[]', vectors: 'text[]' },
  (p) => `
  update memories set vector = decode(embedded.vector, 'base64'), vector_model = ${p.model}
  from unnest(${p.ids}, ${p.texts}, ${p.vectors}) as embedded (id, text, vector)
  where memories.agent_id = ${p.agentId} and memories.user_key = ${p.userKey} and memories.organization_id = ${p.organizationId}
    and memories.id = embedded.id and memories.text = embedded.text`,
);

export const REMOVE_VECTORS_OF_OTHER_SIZES = statement(
  { ...OWNER, size: 'integer' },
  (p) =>
    `update memories set vector = null, vector_model = null where ${ownedBy(p)} and octet_length(vector) <> ${p.size}`,
);

export const REMOVE_SOME_OF_DELETED_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) => `
  delete from memories where ctid = any(array(
    select ctid from memories where agent_id = ${p.agentId} and organization_id = ${p.organizationId}
       and not exists (select 1 from agents where agents.id = ${p.agentId}) limit ${p.limit}))
  returning 1`,
);
