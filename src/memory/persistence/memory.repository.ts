import { Injectable } from '@nestjs/common';
import { Database, toDate, type Transaction } from '../../platform/database/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { fromBytes, type PackedTerms, toBytes } from '../domain/packed-terms.js';
import { usefulnessOf } from '../domain/usefulness.js';
import { COMPARED_TERMS, READ_AT_ONCE } from '../limits.js';
import { StoredMemory } from './memories.schema.js';
import * as sql from './memories.sql.js';

interface MemoryRow {
  readonly id: string;
  readonly text: string;
  readonly created_at: string;
  readonly updated_at: string;
}

interface ComparableRow {
  readonly id: string;
  readonly terms: string;
  readonly vector: string | null;
  readonly lacks_vector: boolean;
}

interface MemoryTerms {
  readonly id: string;
  /** All digests, or the smallest of them. */
  readonly terms: PackedTerms;
}

/** The parts of a memory that a search compares. */
export interface ComparableMemory extends MemoryTerms {
  /** Made by the requested model; null if there is none. */
  readonly vector: Uint8Array | null;
  /** The requested model has not embedded its text yet. */
  readonly lacksVector: boolean;
}

/** A text to be stored, with the time at which it was saved. */
export interface MemoryText {
  readonly id: string;
  readonly text: string;
  readonly terms: PackedTerms;
  readonly at: Date;
}

const MEMORY_FIELDS = ['id', 'text', 'createdAt', 'updatedAt'] as const;

/** Memories of users of agents. Every method takes the owner first and touches only that owner's memories. */
@Injectable()
export class MemoryRepository {
  constructor(private readonly database: Database) {}

  /** The most useful memories, each cut to `characters`, and how many the owner has in all. */
  async mostUseful(
    owner: MemoryOwner,
    limit: number,
    characters: number,
  ): Promise<{ memories: Memory[]; total: number }> {
    const rows = await sql.RECALL.run<MemoryRow & { total: number }>(this.database, { ...owner, limit, characters });
    return { memories: rows.map(toMemory), total: rows[0]?.total ?? 0 };
  }

  /** All memories, ordered by id. */
  list(owner: MemoryOwner): Promise<Memory[]> {
    const page = { orderBy: { id: 'asc' }, limit: READ_AT_ONCE, disableIdentityMap: true } as const;
    return inPages((after) => {
      const where = { ...filterOf(owner), ...(after === null ? {} : { id: { $gt: after } }) };
      return this.database.read((em) => em.find(StoredMemory, where, { fields: MEMORY_FIELDS, ...page }));
    });
  }

  /** Waits for other writers of the owner's memories and keeps them out until the transaction ends. */
  async lock(transaction: Transaction, owner: MemoryOwner): Promise<void> {
    await transaction.lock(owner.organizationId + owner.agentId + owner.userKey);
  }

  /** The smallest digests of each memory's terms. */
  async termSamples(transaction: Transaction, owner: MemoryOwner): Promise<MemoryTerms[]> {
    const bytes = COMPARED_TERMS * Uint32Array.BYTES_PER_ELEMENT;
    const rows = await sql.TERM_SAMPLES.run<{ id: string; terms: Uint8Array }>(transaction, { ...owner, bytes });
    return rows.map(({ id, terms }) => ({ id, terms: fromBytes(terms) }));
  }

  /** In no particular order. */
  async findWithTerms(
    { em }: Transaction,
    owner: MemoryOwner,
    ids: readonly string[],
  ): Promise<(Memory & MemoryTerms)[]> {
    const where = { ...filterOf(owner), id: { $in: [...ids] } };
    const rows = await em.find(StoredMemory, where, { fields: [...MEMORY_FIELDS, 'terms'], disableIdentityMap: true });
    return rows.map(({ id, text, createdAt, updatedAt, terms }) => ({
      ...{ id, text, createdAt, updatedAt },
      terms: fromBytes(terms),
    }));
  }

  /** The memories whose id ends with the code: rarely more than one. */
  async findByCode(transaction: Transaction, owner: MemoryOwner, code: string): Promise<Memory[]> {
    return (await sql.FIND_BY_CODE.run<MemoryRow>(transaction, { ...owner, code })).map(toMemory);
  }

  async insert(transaction: Transaction, owner: MemoryOwner, memory: MemoryText): Promise<void> {
    await sql.INSERT.run(transaction, { ...owner, ...parametersOf(memory) });
  }

  /** Overwrites a memory, id included. This counts as a use of it. */
  async replace(transaction: Transaction, owner: MemoryOwner, replacedId: string, memory: MemoryText): Promise<void> {
    await sql.REPLACE.run(transaction, { ...owner, replacedId, ...parametersOf(memory) });
  }

  async remove({ em }: Transaction, owner: MemoryOwner, id: string): Promise<void> {
    await em.nativeDelete(StoredMemory, { ...filterOf(owner), id });
  }

  /** Keeps the memory `except` and the `keep` most useful others. */
  async removeLeastUseful(transaction: Transaction, owner: MemoryOwner, except: string, keep: number): Promise<void> {
    await sql.REMOVE_LEAST_USEFUL.run(transaction, { ...owner, except, keep });
  }

  /** All memories, ordered by id. @param model whose vectors are requested; null for none */
  async listComparable(owner: MemoryOwner, model: string | null): Promise<ComparableMemory[]> {
    const rows = await inPages((after) =>
      sql.COMPARABLE_PAGE.run<ComparableRow>(this.database, { ...owner, after, limit: READ_AT_ONCE, model }),
    );
    return rows.map(({ id, terms, vector, lacks_vector: lacksVector }) => ({
      ...{ id, terms: fromBytes(Buffer.from(terms, 'base64')), lacksVector },
      vector: vector === null ? null : Buffer.from(vector, 'base64'),
    }));
  }

  /** Counts one use of each. @returns those that still exist, in no particular order */
  async countUse(owner: MemoryOwner, ids: readonly string[], at: Date): Promise<Memory[]> {
    return (await sql.COUNT_USE.run<MemoryRow>(this.database, { ...owner, ids, once: usefulnessOf(at) })).map(toMemory);
  }

  /** Memories without a vector of the model, the most useful first. */
  async findUnembedded(owner: MemoryOwner, model: string, limit: number): Promise<Pick<Memory, 'id' | 'text'>[]> {
    const isUnembedded = [{ vectorModel: null }, { vectorModel: { $ne: model } }];
    const where = { ...filterOf(owner), $or: isUnembedded };
    const first = { orderBy: { usefulness: 'desc', id: 'asc' }, limit, disableIdentityMap: true } as const;
    const memories = await this.database.read((em) =>
      em.find(StoredMemory, where, { fields: ['id', 'text'], ...first }),
    );
    return memories.map(({ id, text }) => ({ id, text }));
  }

  /** Removes vectors that can no longer be compared: the endpoint now makes vectors of `size`. */
  async removeVectorsOfOtherSizes(owner: MemoryOwner, size: number): Promise<void> {
    await sql.REMOVE_VECTORS_OF_OTHER_SIZES.run(this.database, { ...owner, size });
  }

  /** @param memories with their packed vectors; null for a text that cannot have one, which is stored so that no job tries again */
  async saveVectors(
    owner: MemoryOwner,
    model: string,
    memories: readonly (Pick<Memory, 'id' | 'text'> & { readonly vector: Uint8Array | null })[],
  ): Promise<void> {
    await sql.SAVE_VECTORS.run(this.database, {
      ...owner,
      model,
      ids: memories.map(({ id }) => id),
      texts: memories.map(({ text }) => text),
      vectors: memories.map(({ vector }) => (vector === null ? null : Buffer.from(vector).toString('base64'))),
    });
  }

  /** @returns how many there were */
  removeAll({ em }: Transaction, owner: MemoryOwner): Promise<number> {
    return em.nativeDelete(StoredMemory, filterOf(owner));
  }
}

/** Without other properties that an owner may have: the ORM would take them for columns. */
function filterOf({ organizationId, agentId, userKey }: MemoryOwner): MemoryOwner {
  return { organizationId, agentId, userKey };
}

/** Reads page by page, so that the embedded database serves other callers in between. */
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

function parametersOf({ id, text, terms, at }: MemoryText) {
  return { id, text, terms: toBytes(terms), at, once: usefulnessOf(at) };
}

function toMemory({ id, text, created_at, updated_at }: MemoryRow): Memory {
  return { id, text, createdAt: toDate(created_at), updatedAt: toDate(updated_at) };
}
