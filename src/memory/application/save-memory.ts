import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { commonTerms, estimatedShare, packTerms, type PackedTerms } from '../domain/packed-terms.js';
import type { SavedMemory } from '../domain/saved-memory.js';
import { isSimilar, saysTheSame } from '../domain/similarity.js';
import { termsOf } from '../domain/terms.js';
import { MAX_MEMORIES, MAX_SIMILAR_COMPARED, MAX_SIMILAR_SHOWN, SIMILAR_SHARE } from '../limits.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { OwnerQueue } from './owner-queue.js';
import { QueueEmbedding } from './queue-embedding.js';

export interface MemoryToSave {
  /** 1 to `MAX_MEMORY_TEXT` characters that the database can store. */
  readonly text: string;
  /** The code of the memory that it corrects. */
  readonly replaces: string | null;
}

/** The estimate from a sample may be too low by this much. */
const SAMPLE_ERROR = 0.15;

/** Stores what a model notes about a user. Saves for one user run one after another, across processes too. */
@Injectable()
export class SaveMemory {
  constructor(
    private readonly database: Database,
    private readonly memories: MemoryRepository,
    private readonly queue: QueueEmbedding,
    private readonly owners: OwnerQueue,
    private readonly clock: Clock,
  ) {}

  /** @returns null if no memory, or more than one, has the given code. @throws the reason of `signal` if it aborts before the save starts */
  execute(owner: MemoryOwner, memory: MemoryToSave, signal: AbortSignal): Promise<SavedMemory | null> {
    const save = (): Promise<SavedMemory | null> =>
      this.database.transaction((transaction) => this.save(transaction, owner, memory));
    return this.owners.run(owner, save, signal);
  }

  private async save(transaction: Transaction, owner: MemoryOwner, memory: MemoryToSave): Promise<SavedMemory | null> {
    const { text, replaces } = memory;
    const terms = packTerms(termsOf(text));
    await this.memories.lock(transaction, owner);
    const [corrected, ...others] =
      replaces === null ? [] : await this.memories.findByCode(transaction, owner, replaces);
    if (replaces !== null && (!corrected || others.length > 0)) return null;
    const candidates = await this.findSimilar(transaction, owner, terms);
    const same = candidates.find((memory) => memory.id !== corrected?.id && saysTheSame(memory.text, text));
    const before = corrected ?? same;
    const at = this.clock.now();
    // A correction gets a new code: a model that only knows the former code has not read the new text.
    const id = same && !corrected ? same.id : newId();
    const saved = { id, text, createdAt: before?.createdAt ?? at, updatedAt: at };
    if (before) await this.memories.replace(transaction, owner, before.id, { id, text, terms, at });
    else {
      await this.memories.insert(transaction, owner, { id, text, terms, at });
      await this.memories.removeLeastUseful(transaction, owner, id, MAX_MEMORIES - 1);
    }
    // The corrected text now says the same as another memory.
    if (corrected && same) await this.memories.remove(transaction, owner, same.id);
    await this.queue.addIn(transaction, owner);
    const similar = candidates
      .filter((other) => other.id !== before?.id && other.id !== same?.id)
      .slice(0, MAX_SIMILAR_SHOWN);
    return { memory: saved, replaced: before, similar };
  }

  /** The memories that are similar to a text, most similar first. */
  private async findSimilar(transaction: Transaction, owner: MemoryOwner, terms: PackedTerms): Promise<Memory[]> {
    const nearest = (await this.memories.termSamples(transaction, owner))
      .map(({ id, terms: sample }) => ({ id, share: estimatedShare(terms, sample) }))
      .filter(({ share }) => share > 0 && share >= SIMILAR_SHARE - SAMPLE_ERROR)
      .sort((left, right) => right.share - left.share)
      .slice(0, MAX_SIMILAR_COMPARED);
    if (nearest.length === 0) return [];
    const ids = nearest.map(({ id }) => id);
    const compared = await this.memories.findWithTerms(transaction, owner, ids);
    return compared
      .map(({ terms: stored, ...memory }) => {
        const common = commonTerms(stored, terms);
        return { memory, overlap: { common, stored: stored.length, saved: terms.length } };
      })
      .filter(({ overlap }) => isSimilar(overlap))
      .sort((left, right) => right.overlap.common / right.overlap.stored - left.overlap.common / left.overlap.stored)
      .map(({ memory }) => memory);
  }
}
