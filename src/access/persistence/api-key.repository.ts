import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { ApiKey } from '../domain/api-key.js';
import { selectCredentials, selectKeyExpiry, type StoredCredential, updateLastUses } from './credentials.sql.js';

@Injectable()
export class ApiKeyRepository {
  constructor(private readonly database: Database) {}

  async add({ em }: Transaction, key: ApiKey): Promise<void> {
    await em.persist(key).flush();
  }

  /** The organization's keys that are not revoked, oldest first. */
  list(organizationId: string): Promise<ApiKey[]> {
    return this.database.read((em) => em.find(ApiKey, { organizationId, revokedAt: null }, { orderBy: { id: 'asc' } }));
  }

  /** @param organizationId undefined for the operator, who may name a key of any organization */
  findForChange({ em }: Transaction, organizationId: string | undefined, id: string): Promise<ApiKey | null> {
    const where = organizationId === undefined ? { id } : { organizationId, id };
    return em.findOne(ApiKey, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /** Undefined when the key does not exist or is revoked; it may have expired. */
  findExpiry(organizationId: string, id: string): Promise<Pick<StoredCredential, 'expiresAt'> | undefined> {
    return selectKeyExpiry(this.database, organizationId, id);
  }

  /** Keys that are not revoked, in one statement; they may have expired. @returns those that exist, by digest in hex */
  findCredentials(digests: readonly Buffer[]): Promise<Map<string, StoredCredential>> {
    return selectCredentials(this.database, digests);
  }

  /**
   * Stores when keys were last used, if the stored time is at least `graceMs` older.
   * @param uses time of the last use by key id
   */
  recordUses(uses: ReadonlyMap<string, Date>, graceMs: number): Promise<void> {
    return updateLastUses(this.database, uses, graceMs);
  }
}
