import { Injectable } from '@nestjs/common';
import { EmbeddingModel, QueryEmbeddings } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { packTerms, positionsFound } from '../domain/packed-terms.js';
import { rank } from '../domain/ranking.js';
import { queryTermsOf } from '../domain/terms.js';
import { similarityTo } from '../domain/vector.js';
import { type ComparableMemory, MemoryRepository } from '../persistence/memory.repository.js';
import { OwnerQueue } from './owner-queue.js';
import { QueueEmbedding } from './queue-embedding.js';

/** Finds memories of a user by their words and, if an embedding model is set, by their meaning. */
@Injectable()
export class SearchMemories {
  constructor(
    private readonly memories: MemoryRepository,
    private readonly endpoint: EmbeddingModel,
    private readonly queries: QueryEmbeddings,
    private readonly queue: QueueEmbedding,
    private readonly owners: OwnerQueue,
    private readonly clock: Clock,
  ) {}

  /** Best first. Each result counts as a use of the memory. @throws the reason of `signal` when it aborts */
  execute(owner: MemoryOwner, query: string, signal: AbortSignal): Promise<Memory[]> {
    return this.owners.run(owner, () => this.search(owner, query, signal), signal);
  }

  private async search(owner: MemoryOwner, query: string, signal: AbortSignal): Promise<Memory[]> {
    const wanted = packTerms(queryTermsOf(query));
    const model = this.endpoint.model ?? null;
    const [memories, vector] = await Promise.all([
      this.memories.listComparable(owner, model),
      model === null ? undefined : this.queries.vectorFor(model, query, signal),
    ]);
    signal.throwIfAborted();
    await this.queueMissingVectors(owner, memories, vector);
    const candidates = memories.map(({ id, terms, vector: packed }) => ({
      ...{ id, matched: positionsFound(terms, wanted) },
      meaning: vector && packed ? similarityTo(vector, packed) : null,
    }));
    const ids = rank(candidates, wanted.length);
    if (ids.length === 0) return [];
    const found = await this.memories.countUse(owner, ids, this.clock.now());
    return found.sort((left, right) => ids.indexOf(left.id) - ids.indexOf(right.id));
  }

  /** Vectors are missing after a change of the model or of its vector size, or if the endpoint failed when memories were saved. */
  private async queueMissingVectors(
    owner: MemoryOwner,
    memories: readonly ComparableMemory[],
    vector: readonly number[] | undefined,
  ): Promise<void> {
    const isOfAnotherSize = vector && memories.some(({ vector: packed }) => packed && packed.length !== vector.length);
    if (isOfAnotherSize) await this.memories.removeVectorsOfOtherSizes(owner, vector.length);
    if (isOfAnotherSize === true || memories.some(({ lacksVector }) => lacksVector)) await this.queue.add(owner);
  }
}
