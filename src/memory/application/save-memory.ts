import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { commonTerms, estimatedShare, packTerms, type PackedTerms } from '../domain/packed-terms.js';
import type { SavedMemory } from '../domain/saved-memory.js';
import { type Relation, relationOf } from '../domain/similarity.js';
import { termsOf } from '../domain/terms.js';
import { MAX_MEMORIES, MAX_SIMILAR_COMPARED, MAX_SIMILAR_TOLD, SIMILAR_SHARE } from '../limits.js';
import { MemoryRepository, type MemoryText } from '../persistence/memory.repository.js';
import { QueueEmbedding } from './queue-embedding.js';

export interface MemoryToSave {
  /** 1 to `MAX_MEMORY_TEXT` characters. */
  readonly text: string;
  /** The code of the memory that it corrects. */
  readonly replaces: string | null;
}

interface Alike {
  readonly memory: Memory;
  readonly relation: Relation;
}

/** An estimate from a sample may be too low by this. */
const SAMPLE_ERROR = 0.15;

/** Keeps what a model has noted of a user. Saves of one user wait for one another, in whichever process they are made. */
@Injectable()
export class SaveMemory {
  constructor(
    private readonly database: Database,
    private readonly memories: MemoryRepository,
    private readonly queue: QueueEmbedding,
    private readonly clock: Clock,
  ) {}

  async execute(owner: MemoryOwner, { text, replaces }: MemoryToSave): Promise<SavedMemory> {
    const terms = packTerms(termsOf(text));
    return this.database.transaction(async (transaction) => {
      await this.memories.lock(transaction, owner);
      const [corrected, ...others] = replaces === null ? [] : await this.memories.withCode(transaction, owner, replaces);
      if (replaces !== null && (!corrected || others.length > 0)) return { outcome: 'unknown_code' };
      const alike = await this.alike(transaction, owner, terms);
      const same = alike.find(({ memory, relation }) => relation === 'same' && memory.id !== corrected?.id)?.memory;
      const before = corrected ?? same;
      const at = this.clock.now();
      const memory = { id: before?.id ?? newId(), text, createdAt: before?.createdAt ?? at, updatedAt: at };
      await this.write(transaction, owner, { id: memory.id, text, terms, at }, before !== undefined);
      // What it corrects has become what another one says already.
      if (corrected && same) await this.memories.remove(transaction, owner, same.id);
      await this.queue.addIn(transaction, owner);
      const similar = alike.flatMap(({ memory: other, relation }) => (relation === 'similar' && other.id !== memory.id ? [other] : []));
      const told = similar.slice(0, MAX_SIMILAR_TOLD);
      return before ? { outcome: 'replaced', memory, before, similar: told } : { outcome: 'saved', memory, similar: told };
    });
  }

  /** The memories that have most in common with a text, most first. */
  private async alike(transaction: Transaction, owner: MemoryOwner, terms: PackedTerms): Promise<Alike[]> {
    const nearest = (await this.memories.samples(transaction, owner))
      .map(({ id, terms: sample }) => ({ id, share: estimatedShare(terms, sample) }))
      .filter(({ share }) => share > 0 && share >= SIMILAR_SHARE - SAMPLE_ERROR)
      .sort((left, right) => right.share - left.share)
      .slice(0, MAX_SIMILAR_COMPARED);
    if (nearest.length === 0) return [];
    const compared = await this.memories.withTerms(transaction, owner, nearest.map(({ id }) => id));
    return compared
      .map(({ terms: stored, ...memory }) => ({ memory, common: commonTerms(stored, terms), stored: stored.length }))
      .sort((left, right) => right.common / right.stored - left.common / left.stored || right.memory.updatedAt.getTime() - left.memory.updatedAt.getTime())
      .map(({ memory, common, stored }) => ({ memory, relation: relationOf({ common, stored, saved: terms.length }) }));
  }

  private async write(transaction: Transaction, owner: MemoryOwner, memory: MemoryText, isThere: boolean): Promise<void> {
    if (isThere) {
      await this.memories.replace(transaction, owner, memory);
      return;
    }
    await this.memories.insert(transaction, owner, memory);
    await this.memories.forgetLeastUseful(transaction, owner, memory.id, MAX_MEMORIES - 1);
  }
}
