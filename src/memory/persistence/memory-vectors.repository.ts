import { Injectable } from '@nestjs/common';
import { Database, statement } from '../../platform/database/index.js';
import type { MemoryOwner } from '../domain/memory.js';

const OWNER = { organizationId: 'uuid', agentId: 'uuid', userKey: 'uuid' } as const;

const LACKING = statement(
  { ...OWNER, model: 'text', limit: 'integer' },
  (p) => `
  select id::text as id, text from memories
  where agent_id = ${p.agentId} and user_key = ${p.userKey} and organization_id = ${p.organizationId}
    and vector_model is distinct from ${p.model}
  order by usefulness desc, id limit ${p.limit}`,
);

/** Not where the text has changed since it was embedded. */
const KEEP = statement(
  { ...OWNER, model: 'text', ids: 'uuid[]', texts: 'text[]', vectors: 'text[]' },
  (p) => `
  update memories set vector = decode(embedded.vector, 'base64'), vector_model = ${p.model}
  from unnest(${p.ids}, ${p.texts}, ${p.vectors}) as embedded (id, text, vector)
  where memories.agent_id = ${p.agentId} and memories.user_key = ${p.userKey} and memories.organization_id = ${p.organizationId}
    and memories.id = embedded.id and memories.text = embedded.text`,
);

const FORGET_OTHER_SIZES = statement(
  { ...OWNER, size: 'integer' },
  (p) => `
  update memories set vector = null, vector_model = null
  where agent_id = ${p.agentId} and user_key = ${p.userKey} and organization_id = ${p.organizationId}
    and octet_length(vector) <> ${p.size}`,
);

export interface EmbeddableMemory {
  readonly id: string;
  readonly text: string;
}

/** The vectors of memories. */
@Injectable()
export class MemoryVectorsRepository {
  constructor(private readonly database: Database) {}

  /** Some that have no vector of the model, the most useful first. */
  lacking(owner: MemoryOwner, model: string, limit: number): Promise<EmbeddableMemory[]> {
    return LACKING.run<EmbeddableMemory>(this.database, { ...owner, model, limit });
  }

  /** Those that are of no use any more: the endpoint makes vectors of another size. */
  async forgetOtherSizes(owner: MemoryOwner, size: number): Promise<void> {
    await FORGET_OTHER_SIZES.run(this.database, { ...owner, size });
  }

  /** @param embedded packed; null where a text cannot have a vector, which is not tried again */
  async keep(
    owner: MemoryOwner,
    model: string,
    embedded: readonly (EmbeddableMemory & { readonly vector: Uint8Array | null })[],
  ): Promise<void> {
    const vectors = embedded.map(({ vector }) => (vector === null ? null : Buffer.from(vector).toString('base64')));
    await KEEP.run(this.database, {
      ...{ ...owner, model, ids: embedded.map(({ id }) => id), texts: embedded.map(({ text }) => text) },
      vectors,
    });
  }
}
