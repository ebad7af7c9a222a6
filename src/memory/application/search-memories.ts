import { Injectable } from '@nestjs/common';
import { EmbeddingModel, QueryEmbeddings } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { packTerms, placesFound } from '../domain/packed-terms.js';
import { rank } from '../domain/ranking.js';
import { queryTermsOf } from '../domain/terms.js';
import { similarityTo } from '../domain/vector.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { QueueEmbedding } from './queue-embedding.js';

/** Finds what was noted of a user: by meaning and words where an embedding model is set, else by words. */
@Injectable()
export class SearchMemories {
  constructor(
    private readonly memories: MemoryRepository,
    private readonly endpoint: EmbeddingModel,
    private readonly queries: QueryEmbeddings,
    private readonly queue: QueueEmbedding,
    private readonly clock: Clock,
  ) {}

  /**
   * Best first; what is found counts as used.
   * @throws the reason of `signal` when it aborts
   */
  async execute(owner: MemoryOwner, query: string, signal: AbortSignal): Promise<Memory[]> {
    const wanted = packTerms(queryTermsOf(query));
    const model = this.endpoint.model ?? null;
    const [memories, vector] = await Promise.all([
      this.memories.comparable(owner, model),
      model === null ? undefined : this.queries.of(model, query, signal),
    ]);
    signal.throwIfAborted();
    // Another model, or an endpoint that was away when they were saved.
    if (memories.some(({ lacksVector }) => lacksVector)) await this.queue.add(owner);
    const candidates = memories.map(({ id, terms, vector: packed }) => ({
      ...{ id, matched: placesFound(terms, wanted) },
      meaning: vector && packed ? similarityTo(vector, packed) : null,
    }));
    const ids = rank(candidates, wanted.length);
    if (ids.length === 0) return [];
    const found = new Map((await this.memories.use(owner, ids, this.clock.now())).map((memory) => [memory.id, memory]));
    return ids.flatMap((id) => found.get(id) ?? []);
  }
}
