import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, isForeignKeyViolation } from '../../../platform/database/index.js';
import { LEASE_MS, LEASES_KEPT_MS } from '../limits.js';
import { StoredEmbeddingLease } from './embeddings.schema.js';

/** Which worker embeds an agent's chunks: two of them would pay for the same vectors. */
@Injectable()
export class EmbeddingLeaseRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Takes or renews the hold; false when another worker has it, or the organization is gone. */
  async take(organizationId: string, agentId: string, holder: string): Promise<boolean> {
    const held = { holder, expiresAt: this.at(LEASE_MS) };
    const mine = { organizationId, agentId, $or: [{ holder }, { expiresAt: { $lte: this.at(0) } }] };
    try {
      return await this.database.transaction(async ({ em }) => {
        if ((await em.nativeUpdate(StoredEmbeddingLease, mine, held)) > 0) return true;
        const added = em
          .createQueryBuilder(StoredEmbeddingLease)
          .insert({ organizationId, agentId, ...held })
          .onConflict('agentId')
          .ignore();
        return (await added.returning('agentId').execute<object[]>('all')).length > 0;
      });
    } catch (error) {
      if (isForeignKeyViolation(error)) return false;
      throw error;
    }
  }

  async release(organizationId: string, agentId: string, holder: string): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredEmbeddingLease, { organizationId, agentId, holder }));
  }

  /** Those of workers that died over agents to which no other came back. */
  async removeOld(): Promise<void> {
    await this.database.write((em) =>
      em.nativeDelete(StoredEmbeddingLease, { expiresAt: { $lt: this.at(-LEASES_KEPT_MS) } }),
    );
  }

  private at(offsetMs: number): Date {
    return new Date(this.clock.now().getTime() + offsetMs);
  }
}
