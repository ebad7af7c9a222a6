import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, isForeignKeyViolation } from '../../../platform/database/index.js';
import type { AgentKey } from '../domain/source-kind.js';
import { LEASE_MS, LEASES_KEPT_MS } from '../limits.js';
import { StoredEmbeddingLease } from './embeddings.schema.js';

/** The holder's lease on an agent. */
export interface EmbeddingLease extends AgentKey {
  readonly holder: string;
}

/** Leases on agents: two workers that embed the chunks of one agent would pay for the same vectors twice. */
@Injectable()
export class EmbeddingLeaseRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Takes or renews the lease. @returns false if another worker has it, or the organization was deleted */
  async take({ organizationId, agentId, holder }: EmbeddingLease): Promise<boolean> {
    const lease = { holder, expiresAt: this.at(LEASE_MS) };
    const where = { organizationId, agentId, $or: [{ holder }, { expiresAt: { $lte: this.at(0) } }] };
    try {
      return await this.database.transaction(async ({ em }) => {
        if ((await em.nativeUpdate(StoredEmbeddingLease, where, lease)) > 0) return true;
        const added = em
          .createQueryBuilder(StoredEmbeddingLease)
          .insert({ organizationId, agentId, ...lease })
          .onConflict('agentId')
          .ignore();
        return (await added.returning('agentId').execute<object[]>('all')).length > 0;
      });
    } catch (error) {
      if (isForeignKeyViolation(error)) return false;
      throw error;
    }
  }

  async release({ organizationId, agentId, holder }: EmbeddingLease): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredEmbeddingLease, { organizationId, agentId, holder }));
  }

  /** Removes leases of workers that died, where no other worker has taken the agent since. */
  async removeExpired(): Promise<void> {
    await this.database.write((em) =>
      em.nativeDelete(StoredEmbeddingLease, { expiresAt: { $lt: this.at(-LEASES_KEPT_MS) } }),
    );
  }

  private at(offsetMs: number): Date {
    return new Date(this.clock.now().getTime() + offsetMs);
  }
}
