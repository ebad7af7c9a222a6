import type { InferEntity } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { StoredOAuthSignIn } from './oauth.schema.js';

/** A sign-in that is not completed, without its secrets. */
export type OAuthSignIn = Pick<
  InferEntity<typeof StoredOAuthSignIn>,
  'stateDigest' | 'organizationId' | 'integrationId' | 'serverUrl' | 'redirectUrl' | 'createdAt' | 'expiresAt'
>;

@Injectable()
export class OAuthSignInRepository {
  constructor(private readonly database: Database) {}

  async add({ em }: Transaction, signIn: OAuthSignIn): Promise<void> {
    await em.insert(StoredOAuthSignIn, signIn);
  }

  /** The newest first, after `offset` of them. */
  async listBeyond({ em }: Transaction, organizationId: string, integrationId: string, offset: number): Promise<OAuthSignIn[]> {
    const where = { organizationId, integrationId };
    return em.find(StoredOAuthSignIn, where, { orderBy: { createdAt: 'desc', stateDigest: 'desc' }, offset });
  }

  /** Of any organization: the digest is the credential. Whoever takes it is the only one. */
  async take({ em }: Transaction, stateDigest: string): Promise<OAuthSignIn | null> {
    const found = await em.findOne(StoredOAuthSignIn, { stateDigest }, { disableIdentityMap: true });
    return found && (await this.remove(em, stateDigest)) ? found : null;
  }

  /** Of any organization, the oldest first. */
  async expired(now: Date, limit: number): Promise<OAuthSignIn[]> {
    const where = { expiresAt: { $lte: now } };
    return this.database.read((em) => em.find(StoredOAuthSignIn, where, { orderBy: { expiresAt: 'asc' }, limit }));
  }

  async removeOne({ em }: Transaction, stateDigest: string): Promise<void> {
    await this.remove(em, stateDigest);
  }

  private async remove(em: Transaction['em'], stateDigest: string): Promise<boolean> {
    return (await em.nativeDelete(StoredOAuthSignIn, { stateDigest })) > 0;
  }
}
