import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, toDate, type Transaction } from '../../platform/database/index.js';
import { ApiKey } from '../domain/api-key.js';
import type { Capability } from '../domain/capability.js';

/** What authentication needs of a key. */
export interface StoredCredential {
  readonly keyId: string;
  readonly organizationId: string;
  readonly memberId: string;
  readonly capabilities: readonly Capability[];
  readonly agentIds: readonly string[] | null;
  readonly expiresAt: Date | null;
}

interface CredentialRow {
  readonly id: string;
  readonly organization_id: string;
  readonly member_id: string;
  readonly capabilities: Capability[];
  readonly agent_ids: string[] | null;
  readonly expires_at: string | null;
}

@Injectable()
export class ApiKeyRepository {
  constructor(private readonly database: Database) {}

  async add({ em }: Transaction, key: ApiKey): Promise<void> {
    await em.persist(key).flush();
  }

  /** The organization's keys that are not revoked, oldest first. */
  list(organizationId: string): Promise<ApiKey[]> {
    return this.database.em().find(ApiKey, { organizationId, revokedAt: null }, { orderBy: { id: 'asc' } });
  }

  /** @param organizationId undefined for the operator, who may name a key of any organization */
  findForChange({ em }: Transaction, organizationId: string | undefined, id: string): Promise<ApiKey | null> {
    const where = organizationId === undefined ? { id } : { organizationId, id };
    return em.findOne(ApiKey, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /** The key that has this digest and is not revoked; it may have expired. */
  async findCredential(digest: Buffer): Promise<StoredCredential | undefined> {
    const [row] = await this.database.query<CredentialRow>(
      `select id, organization_id, member_id, capabilities, agent_ids, expires_at
       from api_keys where digest = $1 and revoked_at is null`,
      [digest],
    );
    return row && toCredential(row);
  }

  /**
   * Stores when keys were last used, where what is stored is at least `graceMs` older.
   * @param uses time of the last use by key id
   */
  async recordUses(uses: ReadonlyMap<string, Date>, graceMs: number): Promise<void> {
    // In one order everywhere, so that two processes never wait for each other's rows.
    const ids = [...uses.keys()].sort();
    await this.database.query(
      `update api_keys set last_used_at = used.at
       from (
         select api_keys.id, uses.at
         from unnest($1::uuid[], $2::timestamptz[]) as uses (id, at)
         join api_keys on api_keys.id = uses.id
         where last_used_at is null or last_used_at <= uses.at - $3 * interval '1 millisecond'
         order by api_keys.id
         for update of api_keys
       ) as used
       where api_keys.id = used.id`,
      [ids, ids.map((id) => uses.get(id)?.toISOString()), graceMs],
    );
  }
}

function toCredential(row: CredentialRow): StoredCredential {
  return {
    keyId: row.id,
    organizationId: row.organization_id,
    memberId: row.member_id,
    capabilities: row.capabilities,
    agentIds: row.agent_ids,
    expiresAt: row.expires_at === null ? null : toDate(row.expires_at),
  };
}
