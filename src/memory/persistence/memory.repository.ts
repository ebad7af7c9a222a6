import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, statement, storableText, toDate, type Transaction } from '../../platform/database/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { usedOnceMore, usefulnessOf } from '../domain/usefulness.js';
import { RECALL } from './recall.sql.js';

interface MemoryRow {
  readonly id: string;
  readonly text: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A memory that has terms of a text. */
export interface OverlappingMemory extends Memory {
  /** Terms that both have, and of the memory. */
  readonly common: number;
  readonly stored: number;
}

/** What a search compares of a memory. */
export interface ComparableMemory {
  readonly id: string;
  /** Terms of the query that it has. */
  readonly matched: readonly string[];
  /** By the model asked for; null where there is none yet, or none to be had. */
  readonly vector: Uint8Array | null;
  /** Its vector is still to be made. */
  readonly lacksVector: boolean;
}

const OWNER = { organizationId: 'uuid', agentId: 'uuid', userKey: 'uuid' } as const;
type OwnerReferences = { readonly [Name in keyof typeof OWNER]: string };
/** Begins as the index does. */
const ofOwner = (p: OwnerReferences): string =>
  `agent_id = ${p.agentId} and user_key = ${p.userKey} and organization_id = ${p.organizationId}`;
const COLUMNS = 'id::text as id, text, created_at, updated_at';

/** One change of a user's memories at a time, in whichever process. */
const LOCK = statement(OWNER, (p) => `select pg_advisory_xact_lock(hashtextextended(${p.organizationId}::text || ${p.agentId}::text || ${p.userKey}::text, 0))`);

const LIST = statement(OWNER, (p) => `select ${COLUMNS} from memories where ${ofOwner(p)} order by updated_at desc, id desc`);

const OVERLAPPING = statement(
  { ...OWNER, terms: 'text[]', limit: 'integer' },
  (p) => `
  select ${COLUMNS}, common, stored from (
    select *, cardinality(terms) as stored,
           (select count(*)::int from unnest(terms) term where term = any(${p.terms})) as common
    from memories where ${ofOwner(p)} and terms && ${p.terms}
  ) overlapping
  order by common::float8 / (stored + cardinality(${p.terms}) - common) desc, updated_at desc, id desc limit ${p.limit}`,
);

const WITH_CODE = statement({ ...OWNER, code: 'text' }, (p) => `select ${COLUMNS} from memories where ${ofOwner(p)} and right(id::text, length(${p.code})) = ${p.code}`);

const WRITTEN = { text: 'text', terms: 'text[]', at: 'timestamptz', once: 'double precision' } as const;

/** Not for an agent that was deleted meanwhile: nobody would ever read or remove it. */
const INSERT = statement(
  { ...OWNER, id: 'uuid', ...WRITTEN },
  (p) => `
  insert into memories (id, organization_id, agent_id, user_key, text, terms, usefulness, created_at, updated_at)
  select ${p.id}, ${p.organizationId}, ${p.agentId}, ${p.userKey}, ${p.text}, ${p.terms}, ${p.once}, ${p.at}, ${p.at}
  from agents where agents.id = ${p.agentId} and agents.organization_id = ${p.organizationId}`,
);

const REPLACE = statement(
  { ...OWNER, id: 'uuid', ...WRITTEN },
  (p) => `
  update memories set text = ${p.text}, terms = ${p.terms}, updated_at = ${p.at}, vector = null, vector_model = null,
                      usefulness = ${usedOnceMore('usefulness', p.once)}
  where ${ofOwner(p)} and id = ${p.id}`,
);

const REMOVE = statement({ ...OWNER, id: 'uuid' }, (p) => `delete from memories where ${ofOwner(p)} and id = ${p.id}`);

const FORGET_LEAST_USEFUL = statement(
  { ...OWNER, except: 'uuid', keep: 'integer' },
  (p) => `
  delete from memories where id in (
    select id from memories where ${ofOwner(p)} and id <> ${p.except} order by usefulness desc, id offset ${p.keep})`,
);

const COMPARABLE = statement(
  { ...OWNER, terms: 'text[]', model: 'text' },
  (p) => `
  select id::text as id, array(select term from unnest(terms) term where term = any(${p.terms})) as matched,
         case when vector_model = ${p.model} then vector end as vector,
         ${p.model} is not null and vector_model is distinct from ${p.model} as lacks_vector
  from memories where ${ofOwner(p)}`,
);

/** What a search has found was of use. */
const USE = statement(
  { ...OWNER, ids: 'uuid[]', once: 'double precision' },
  (p) => `
  update memories set usefulness = ${usedOnceMore('usefulness', p.once)} where ${ofOwner(p)} and id = any(${p.ids})
  returning ${COLUMNS}`,
);

const REMOVE_ALL = statement(OWNER, (p) => `delete from memories where ${ofOwner(p)} returning 1`);

/** Memories of users of agents. The owner comes first, and every statement is about that owner's alone. */
@Injectable()
export class MemoryRepository {
  constructor(private readonly database: Database) {}

  /** The most useful ones, and how many there are. */
  async mostUseful(owner: MemoryOwner, limit: number): Promise<{ memories: Memory[]; total: number }> {
    const rows = await RECALL.run<MemoryRow & { total: number }>(this.database, { ...owner, limit });
    return { memories: rows.map(toMemory), total: rows[0]?.total ?? 0 };
  }

  /** All, the one that was said last first. */
  async list(owner: MemoryOwner): Promise<Memory[]> {
    return (await LIST.run<MemoryRow>(this.database, owner)).map(toMemory);
  }

  /** Waits for a change of the owner's memories under way; holds until the transaction's end. */
  async lock(transaction: Transaction, owner: MemoryOwner): Promise<void> {
    await LOCK.run(transaction, owner);
  }

  /** Those that have most in common with a text, most first. */
  async overlapping(source: SqlExecutor, owner: MemoryOwner, terms: readonly string[], limit: number): Promise<OverlappingMemory[]> {
    const rows = await OVERLAPPING.run<MemoryRow & { common: number; stored: number }>(source, { ...owner, terms, limit });
    return rows.map((row) => ({ ...toMemory(row), common: row.common, stored: row.stored }));
  }

  /** Those whose id ends with the code: one, or rarely more. */
  async withCode(source: SqlExecutor, owner: MemoryOwner, code: string): Promise<Memory[]> {
    return (await WITH_CODE.run<MemoryRow>(source, { ...owner, code })).map(toMemory);
  }

  async insert(transaction: Transaction, owner: MemoryOwner, memory: { id: string; text: string; terms: readonly string[]; at: Date }): Promise<void> {
    await INSERT.run(transaction, { ...owner, ...written(memory) });
  }

  /** Puts a text in the place of a memory's, which counts as a use of it. */
  async replace(transaction: Transaction, owner: MemoryOwner, memory: { id: string; text: string; terms: readonly string[]; at: Date }): Promise<void> {
    await REPLACE.run(transaction, { ...owner, ...written(memory) });
  }

  async remove(transaction: Transaction, owner: MemoryOwner, id: string): Promise<void> {
    await REMOVE.run(transaction, { ...owner, id });
  }

  /** @param keep so many besides `except`, which stays whatever it is worth */
  async forgetLeastUseful(transaction: Transaction, owner: MemoryOwner, except: string, keep: number): Promise<void> {
    await FORGET_LEAST_USEFUL.run(transaction, { ...owner, except, keep });
  }

  /** @param model whose vectors are asked for; null for none */
  async comparable(owner: MemoryOwner, terms: readonly string[], model: string | null): Promise<ComparableMemory[]> {
    const rows = await COMPARABLE.run<Omit<ComparableMemory, 'lacksVector'> & { lacks_vector: boolean }>(this.database, { ...owner, terms, model });
    return rows.map(({ id, matched, vector, lacks_vector: lacksVector }) => ({ id, matched, vector, lacksVector }));
  }

  /** Counts a use of each. @returns them, in no order; without those that are gone */
  async use(owner: MemoryOwner, ids: readonly string[], at: Date): Promise<Memory[]> {
    return (await USE.run<MemoryRow>(this.database, { ...owner, ids, once: usefulnessOf(at) })).map(toMemory);
  }

  /** @returns how many there were */
  async removeAll(transaction: Transaction, owner: MemoryOwner): Promise<number> {
    return (await REMOVE_ALL.run(transaction, owner)).length;
  }
}

function written({ id, text, terms, at }: { id: string; text: string; terms: readonly string[]; at: Date }) {
  return { id, text: storableText(text), terms, at, once: usefulnessOf(at) };
}

function toMemory({ id, text, created_at, updated_at }: MemoryRow): Memory {
  return { id, text, createdAt: toDate(created_at), updatedAt: toDate(updated_at) };
}
