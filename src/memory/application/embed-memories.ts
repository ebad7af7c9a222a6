import { Injectable } from '@nestjs/common';
import { EmbeddingModel, EmbedTexts } from '../../models/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { packVector } from '../domain/vector.js';
import { EMBEDDED_AT_ONCE } from '../limits.js';
import { MemoryRepository } from '../persistence/memory.repository.js';

/** Embeds the memories of a user that have no vector of the current model. No connection or lock is held while the endpoint works. */
@Injectable()
export class EmbedMemories {
  constructor(
    private readonly memories: MemoryRepository,
    private readonly texts: EmbedTexts,
    private readonly endpoint: EmbeddingModel,
    private readonly logger: Logger,
  ) {}

  /** Stops at the first failure of the endpoint. @throws the reason of `signal` when it aborts */
  async execute(owner: MemoryOwner, signal: AbortSignal): Promise<void> {
    const { model } = this.endpoint;
    if (model === undefined) return;
    let previousFirst: string | undefined;
    for (;;) {
      const memories = await this.memories.findUnembedded(owner, model, EMBEDDED_AT_ONCE);
      const first = memories[0]?.id;
      // The same first memory again: its text changed while it was embedded, and that save has enqueued another job.
      if (first === undefined || first === previousFirst) return;
      previousFirst = first;
      if (!(await this.embed(owner, model, memories, signal))) return;
    }
  }

  /** @returns whether the endpoint answered for all of them */
  private async embed(
    owner: MemoryOwner,
    model: string,
    memories: readonly Pick<Memory, 'id' | 'text'>[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const texts = memories.map(({ text }) => text);
    const { embedded, failure } = await this.texts.execute(model, texts, signal);
    const packed = embedded.flatMap(({ position, vector }) => {
      const memory = memories[position];
      return memory ? [{ ...memory, vector: vector === null ? null : packVector(vector) }] : [];
    });
    if (packed.length > 0) await this.memories.saveVectors(owner, model, packed);
    const message = 'The embedding endpoint failed: memories without vectors are found by words only';
    if (failure) this.logger.warn({ model, failure: failure.kind }, message);
    return failure === undefined;
  }
}
