import { Injectable } from '@nestjs/common';
import { EmbeddingModel, EmbedTexts } from '../../models/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { MemoryOwner } from '../domain/memory.js';
import { packVector } from '../domain/vector.js';
import { EMBEDDED_AT_ONCE } from '../limits.js';
import { type EmbeddableMemory, MemoryVectorsRepository } from '../persistence/memory-vectors.repository.js';

/** Gives the memories of a user that have none of the present model their vectors. Nothing is held while the endpoint works. */
@Injectable()
export class EmbedMemories {
  constructor(
    private readonly vectors: MemoryVectorsRepository,
    private readonly texts: EmbedTexts,
    private readonly endpoint: EmbeddingModel,
    private readonly logger: Logger,
  ) {}

  /** Ends early where the endpoint fails. @throws the reason of `signal` when it aborts */
  async execute(owner: MemoryOwner, signal: AbortSignal): Promise<void> {
    const { model } = this.endpoint;
    if (model === undefined) return;
    let before: string | undefined;
    for (;;) {
      const lacking = await this.vectors.lacking(owner, model, EMBEDDED_AT_ONCE);
      const first = lacking[0]?.id;
      // The same again: its text changes as fast as it is embedded, and whoever changes it asks for the job.
      if (first === undefined || first === before) return;
      before = first;
      if (!(await this.embed(owner, model, lacking, signal))) return;
    }
  }

  /** @returns whether the endpoint answered for all of them */
  private async embed(
    owner: MemoryOwner,
    model: string,
    memories: readonly EmbeddableMemory[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { embedded, failure } = await this.texts.execute(
      model,
      memories.map(({ text }) => text),
      signal,
    );
    const packed = embedded.flatMap(({ position, vector }) => {
      const memory = memories[position];
      return memory ? [{ ...memory, vector: vector === null ? null : packVector(vector) }] : [];
    });
    if (packed.length > 0) await this.vectors.keep(owner, model, packed);
    if (failure)
      this.logger.warn(
        { model, failure: failure.kind },
        'Memories have no vectors yet: they are found by words until they have',
      );
    return failure === undefined;
  }
}
