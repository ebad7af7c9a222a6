import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { MemoryOwner } from '../domain/memory.js';
import { StoredMemory } from './memories.schema.js';
import { REMOVE_VECTORS_OF_OTHER_SIZES, SAVE_VECTORS } from './memories.sql.js';

export interface EmbeddableMemory {
  readonly id: string;
  readonly text: string;
}

/** A memory with its packed vector; null if its text cannot have one, which is stored too so that no job tries again. */
export interface EmbeddedMemory extends EmbeddableMemory {
  readonly vector: Uint8Array | null;
}

@Injectable()
export class MemoryVectorsRepository {
  constructor(private readonly database: Database) {}

  /** Memories without a vector of the model, the most useful first. */
  async findUnembedded(owner: MemoryOwner, model: string, limit: number): Promise<EmbeddableMemory[]> {
    const { organizationId, agentId, userKey } = owner;
    const where = {
      ...{ organizationId, agentId, userKey },
      $or: [{ vectorModel: null }, { vectorModel: { $ne: model } }],
    };
    const memories = await this.database.read((em) =>
      em.find(StoredMemory, where, {
        ...{ fields: ['id', 'text'], orderBy: { usefulness: 'desc', id: 'asc' }, limit, disableIdentityMap: true },
      }),
    );
    return memories.map(({ id, text }) => ({ id, text }));
  }

  /** Removes vectors that can no longer be compared: the endpoint now makes vectors of `size`. */
  async removeOtherSizes(owner: MemoryOwner, size: number): Promise<void> {
    await REMOVE_VECTORS_OF_OTHER_SIZES.run(this.database, { ...owner, size });
  }

  async save(owner: MemoryOwner, model: string, memories: readonly EmbeddedMemory[]): Promise<void> {
    await SAVE_VECTORS.run(this.database, {
      ...owner,
      model,
      ids: memories.map(({ id }) => id),
      texts: memories.map(({ text }) => text),
      vectors: memories.map(({ vector }) => (vector === null ? null : Buffer.from(vector).toString('base64'))),
    });
  }
}
