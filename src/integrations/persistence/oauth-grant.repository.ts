import type { InferEntity } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { type EntityReader, Database, type Transaction } from '../../platform/database/index.js';
import type { OAuthGrant } from '../oauth/oauth-grant.js';
import { StoredOAuthGrant } from './oauth.schema.js';

/** A refresh that one process does for all. */
export interface RefreshClaim {
  readonly organizationId: string;
  readonly integrationId: string;
  /** The tokens that are to be replaced. */
  readonly generation: string;
  readonly lease: string;
}

/** What new tokens change in the row. */
export type RefreshedGrant = Pick<OAuthGrant, 'generation' | 'receivedAt' | 'expiresAt' | 'refreshAt'> & { readonly scope?: string };

type GrantRow = InferEntity<typeof StoredOAuthGrant>;

const NO_LEASE = { refreshLease: null, refreshingUntil: null };

@Injectable()
export class OAuthGrantRepository {
  constructor(private readonly database: Database) {}

  async find(
    organizationId: string,
    integrationId: string,
    source: EntityReader = this.database,
  ): Promise<OAuthGrant | null> {
    const row = await source.read((em) => em.findOne(StoredOAuthGrant, { organizationId, integrationId }));
    return row && grantOf(row);
  }

  /** Sets it, whatever was there; a refresh that is under way comes to nothing. */
  async put({ em }: Transaction, grant: OAuthGrant, now: Date): Promise<void> {
    await em.upsert(StoredOAuthGrant, { ...grant, ...NO_LEASE, updatedAt: now }, { disableIdentityMap: true });
  }

  /**
   * Claims the refresh of these tokens, unless somebody else has, until `until`.
   * @param until when the claim ends; one that ends much later was made before the clock was set back
   */
  async claim({ em }: Transaction, { lease, ...tokens }: RefreshClaim, now: Date, until: Date): Promise<boolean> {
    // Clocks of machines differ by a little: as much again is no sign of one that was set back.
    const latest = new Date(2 * until.getTime() - now.getTime());
    const free = [{ refreshingUntil: null }, { refreshingUntil: { $lt: now } }, { refreshingUntil: { $gt: latest } }];
    const where = { ...tokens, status: 'authorized' as const, $or: free };
    return (await em.nativeUpdate(StoredOAuthGrant, where, { refreshLease: lease, refreshingUntil: until })) > 0;
  }

  /** @returns false when the claim is another's by now, or somebody has signed in again */
  async saveRefreshed({ em }: Transaction, claim: RefreshClaim, changes: RefreshedGrant, now: Date): Promise<boolean> {
    return (await em.nativeUpdate(StoredOAuthGrant, held(claim), { ...changes, ...NO_LEASE, updatedAt: now })) > 0;
  }

  /** @returns as `saveRefreshed` */
  async markGone({ em }: Transaction, claim: RefreshClaim, version: string, now: Date): Promise<boolean> {
    const changes = { status: 'gone' as const, version, ...NO_LEASE, updatedAt: now };
    return (await em.nativeUpdate(StoredOAuthGrant, held(claim), changes)) > 0;
  }

  async release(claim: RefreshClaim): Promise<void> {
    await this.database.write((em) => em.nativeUpdate(StoredOAuthGrant, held(claim), NO_LEASE));
  }

  async setNeededScope(organizationId: string, integrationId: string, version: string, neededScope: string): Promise<void> {
    const where = { organizationId, integrationId, version };
    await this.database.write((em) => em.nativeUpdate(StoredOAuthGrant, where, { neededScope }));
  }
}

function held({ organizationId, integrationId, lease }: RefreshClaim) {
  return { organizationId, integrationId, refreshLease: lease };
}

function grantOf(row: GrantRow): OAuthGrant {
  const { organizationId, integrationId, serverUrl, issuer, status, version, generation, receivedAt } = row;
  const { scope = null, neededScope = null, expiresAt = null, refreshAt = null } = row;
  return {
    ...{ organizationId, integrationId, serverUrl, issuer, status, scope, neededScope },
    ...{ version, generation, receivedAt, expiresAt, refreshAt },
  };
}
