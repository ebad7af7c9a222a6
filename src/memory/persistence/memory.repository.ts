import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, statement, toDate, type Transaction } from '../../platform/database/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { fromBytes, type PackedTerms, toBytes } from '../domain/packed-terms.js';
import { usedOnceMore, usefulnessOf } from '../domain/usefulness.js';
import { COMPARED_TERMS, READ_AT_ONCE } from '../limits.js';
import { RECALL } from './recall.sql.js';

interface MemoryRow {
  readonly id: string;
  readonly text: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The digests of a memory's terms, or the smallest ones of them. */
export interface MemoryTerms {
  readonly id: string;
  readonly terms: PackedTerms;
}

/** What a search compares of a memory. */
export interface ComparableMemory extends MemoryTerms {
  /** By the model asked for; null where there is none yet, or none to be had. */
  readonly vector: Uint8Array | null;
  /** Its vector is still to be made. */
  readonly lacksVector: boolean;
}

/** What is stored of a text. */
export interface MemoryText {
  readonly id: string;
  readonly text: string;
  readonly terms: PackedTerms;
  readonly at: Date;
}

const OWNER = { organizationId: 'uuid', agentId: 'uuid', userKey: 'uuid' } as const;
type OwnerReferences = { readonly [Name in keyof typeof OWNER]: string };
/** Begins as the index does. */
const ofOwner = (p: OwnerReferences): string =>
  `agent_id = ${p.agentId} and user_key = ${p.userKey} and organization_id = ${p.organizationId}`;
const COLUMNS = 'id::text as id, text, created_at, updated_at';

/**
 * Memories after one, in the order of their ids. What is binary comes as text: the embedded database's driver reads bytes
 * ten times as slowly, one by one.
 */
const PAGE = { ...OWNER, after: 'uuid', limit: 'integer' } as const;
const pageOf = (p: { readonly [Name in keyof typeof PAGE]: string }): string =>
  `from memories where ${ofOwner(p)} and id > coalesce(${p.after}, '00000000-0000-0000-0000-000000000000') order by id limit ${p.limit}`;

const LIST = statement(PAGE, (p) => `select ${COLUMNS} ${pageOf(p)}`);

const COMPARABLE = statement(
  { ...PAGE, model: 'text' },
  (p) => `
  select memories.id::text as id, encode(terms, 'base64') as terms,
         case when vector_model = ${p.model} then encode(vector, 'base64') end as vector,
         ${p.model} is not null and vector_model is distinct from ${p.model} as lacks_vector
  ${pageOf(p)}`,
);

/** The smallest digests of each memory's terms. */
const SAMPLES = statement(
  { ...OWNER, bytes: 'integer' },
  (p) => `select id::text as id, substring(terms from 1 for ${p.bytes}) as terms from memories where ${ofOwner(p)}`,
);

const WITH_TERMS = statement(
  { ...OWNER, ids: 'uuid[]' },
  (p) => `select ${COLUMNS}, terms from memories where ${ofOwner(p)} and id = any(${p.ids})`,
);

const WITH_CODE = statement(
  { ...OWNER, code: 'text' },
  (p) => `select ${COLUMNS} from memories where ${ofOwner(p)} and right(id::text, length(${p.code})) = ${p.code}`,
);

const WRITTEN = { id: 'uuid', text: 'text', terms: 'bytea', at: 'timestamptz', once: 'double precision' } as const;

/** Not for an agent that was deleted meanwhile: nobody would ever read or remove it. */
const INSERT = statement(
  { ...OWNER, ...WRITTEN },
  (p) => `
  insert into memories (id, organization_id, agent_id, user_key, text, terms, usefulness, created_at, updated_at)
  select ${p.id}, ${p.organizationId}, ${p.agentId}, ${p.userKey}, ${p.text}, ${p.terms}, ${p.once}, ${p.at}, ${p.at}
  from agents where agents.id = ${p.agentId} and agents.organization_id = ${p.organizationId}`,
);

const REPLACE = statement(
  { ...OWNER, ...WRITTEN, before: 'uuid' },
  (p) => `
  update memories set id = ${p.id}, text = ${p.text}, terms = ${p.terms}, updated_at = ${p.at}, vector = null, vector_model = null,
                      usefulness = ${usedOnceMore('usefulness', p.once)}
  where ${ofOwner(p)} and id = ${p.before}`,
);

const REMOVE = statement({ ...OWNER, id: 'uuid' }, (p) => `delete from memories where ${ofOwner(p)} and id = ${p.id}`);

const FORGET_LEAST_USEFUL = statement(
  { ...OWNER, except: 'uuid', keep: 'integer' },
  (p) => `
  delete from memories where id in (
    select id from memories where ${ofOwner(p)} and id <> ${p.except} order by usefulness desc, id offset ${p.keep})`,
);

/** What a search has found was of use. */
const USE = statement(
  { ...OWNER, ids: 'uuid[]', once: 'double precision' },
  (p) => `
  update memories set usefulness = ${usedOnceMore('usefulness', p.once)} where ${ofOwner(p)} and id = any(${p.ids})
  returning ${COLUMNS}`,
);

const REMOVE_ALL = statement(OWNER, (p) => `delete from memories where ${ofOwner(p)} returning 1`);

interface ComparableRow {
  readonly id: string;
  readonly terms: string;
  readonly vector: string | null;
  readonly lacks_vector: boolean;
}

/** Memories of users of agents. The owner comes first, and every statement is about that owner's alone. */
@Injectable()
export class MemoryRepository {
  constructor(private readonly database: Database) {}

  /** The most useful ones, of each no more than so many characters, and how many there are. */
  async mostUseful(
    owner: MemoryOwner,
    limit: number,
    characters: number,
  ): Promise<{ memories: Memory[]; total: number }> {
    const rows = await RECALL.run<MemoryRow & { total: number }>(this.database, { ...owner, limit, characters });
    return { memories: rows.map(toMemory), total: rows[0]?.total ?? 0 };
  }

  /** All, in the order of their ids. */
  async list(owner: MemoryOwner): Promise<Memory[]> {
    const rows = await inPages((after) => LIST.run<MemoryRow>(this.database, { ...owner, after, limit: READ_AT_ONCE }));
    return rows.map(toMemory);
  }

  /** Waits for a change of the owner's memories under way; holds until the transaction's end. */
  async lock(transaction: Transaction, owner: MemoryOwner): Promise<void> {
    await transaction.lock(owner.organizationId + owner.agentId + owner.userKey);
  }

  /** Of all, the smallest digests of their terms. */
  async samples(source: SqlExecutor, owner: MemoryOwner): Promise<MemoryTerms[]> {
    const bytes = COMPARED_TERMS * Uint32Array.BYTES_PER_ELEMENT;
    const rows = await SAMPLES.run<{ id: string; terms: Uint8Array }>(source, { ...owner, bytes });
    return rows.map(({ id, terms }) => ({ id, terms: fromBytes(terms) }));
  }

  /** Some, with all of their terms; in no order. */
  async withTerms(source: SqlExecutor, owner: MemoryOwner, ids: readonly string[]): Promise<(Memory & MemoryTerms)[]> {
    const rows = await WITH_TERMS.run<MemoryRow & { terms: Uint8Array }>(source, { ...owner, ids });
    return rows.map((row) => ({ ...toMemory(row), terms: fromBytes(row.terms) }));
  }

  /** Those whose id ends with the code: one, or rarely more. */
  async withCode(source: SqlExecutor, owner: MemoryOwner, code: string): Promise<Memory[]> {
    return (await WITH_CODE.run<MemoryRow>(source, { ...owner, code })).map(toMemory);
  }

  async insert(transaction: Transaction, owner: MemoryOwner, memory: MemoryText): Promise<void> {
    await INSERT.run(transaction, { ...owner, ...written(memory) });
  }

  /** Puts a text in the place of a memory, which counts as a use of it and may get another id. */
  async replace(transaction: Transaction, owner: MemoryOwner, before: string, memory: MemoryText): Promise<void> {
    await REPLACE.run(transaction, { ...owner, before, ...written(memory) });
  }

  async remove(transaction: Transaction, owner: MemoryOwner, id: string): Promise<void> {
    await REMOVE.run(transaction, { ...owner, id });
  }

  /** @param keep so many besides `except`, which stays whatever it is worth */
  async forgetLeastUseful(transaction: Transaction, owner: MemoryOwner, except: string, keep: number): Promise<void> {
    await FORGET_LEAST_USEFUL.run(transaction, { ...owner, except, keep });
  }

  /** All, in the order of their ids. @param model whose vectors are asked for; null for none */
  async comparable(owner: MemoryOwner, model: string | null): Promise<ComparableMemory[]> {
    const rows = await inPages((after) =>
      COMPARABLE.run<ComparableRow>(this.database, { ...owner, after, limit: READ_AT_ONCE, model }),
    );
    return rows.map(({ id, terms, vector, lacks_vector: lacksVector }) => ({
      ...{ id, terms: fromBytes(Buffer.from(terms, 'base64')), lacksVector },
      vector: vector === null ? null : Buffer.from(vector, 'base64'),
    }));
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

/** Reads page by page, so that others are served in between. */
async function inPages<Row extends { readonly id: string }>(
  read: (after: string | null) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await read(rows.at(-1)?.id ?? null);
    rows.push(...page);
    if (page.length < READ_AT_ONCE) return rows;
  }
}

function written({ id, text, terms, at }: MemoryText) {
  return { id, text, terms: toBytes(terms), at, once: usefulnessOf(at) };
}

function toMemory({ id, text, created_at, updated_at }: MemoryRow): Memory {
  return { id, text, createdAt: toDate(created_at), updatedAt: toDate(updated_at) };
}
