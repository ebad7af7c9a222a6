import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { LEASE_MS, LEASES_KEPT_MS } from '../embedding-limits.js';

/** Which worker embeds an agent's chunks: two of them would pay for the same vectors. */
@Injectable()
export class EmbeddingLeaseRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Takes or renews the hold; false when another worker has it. */
  async take(organizationId: string, agentId: string, holder: string): Promise<boolean> {
    const rows = await this.database.query(
      `insert into knowledge_embedding_leases (agent_id, organization_id, holder, expires_at)
       select $2::uuid, $1::uuid, $3::uuid, $5::timestamptz where exists (select 1 from organizations where id = $1::uuid)
       on conflict (agent_id) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where knowledge_embedding_leases.holder = excluded.holder or knowledge_embedding_leases.expires_at <= $4::timestamptz
       returning agent_id`,
      [organizationId, agentId, holder, this.at(0), this.at(LEASE_MS)],
    );
    return rows.length > 0;
  }

  async release(organizationId: string, agentId: string, holder: string): Promise<void> {
    await this.database.query(
      'delete from knowledge_embedding_leases where organization_id = $1::uuid and agent_id = $2::uuid and holder = $3::uuid',
      [organizationId, agentId, holder],
    );
  }

  /** Those of workers that died over agents to which nobody came back. */
  async removeOld(): Promise<void> {
    await this.database.query('delete from knowledge_embedding_leases where expires_at < $1::timestamptz', [this.at(-LEASES_KEPT_MS)]);
  }

  private at(offsetMs: number): string {
    return new Date(this.clock.now().getTime() + offsetMs).toISOString();
  }
}
