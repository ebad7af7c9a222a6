import { createHash } from 'node:crypto';
import type { EntitySchema } from '@mikro-orm/core';
import type { Clock } from '../clock/index.js';
import type { Database, Transaction } from '../database/index.js';
import { secureRandomBytes } from '../ids/index.js';
import type { Vault } from '../vault/index.js';
import { MAX_OPEN_SIGN_INS, REMOVE_BATCH, SIGN_IN_LIFETIME_MS } from './limits.js';
import type { OAuthServices } from './oauth-grants.js';
import type { StoredSignIn } from './oauth.entities.js';

const RANDOM_BYTES = 32;

/** The parameters with which the authorization server redirects the browser. */
export interface AuthorizationResponse {
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  readonly error: string | undefined;
}

export interface TakenSignIn<SignIn> {
  readonly signIn: SignIn;
  readonly secret: string;
}

/** The open sign-ins of one table. Only the browser has the state; the service stores its digest. */
export class SignIns<SignIn extends StoredSignIn> {
  private readonly database: Database;
  private readonly vault: Vault;
  private readonly clock: Clock;

  /** @param prefix the vault keeps the secret of each under `<prefix>.sign_in.<digest>`, in the record of its owner */
  constructor(
    { database, vault, clock }: OAuthServices,
    private readonly entity: EntitySchema<SignIn>,
    private readonly prefix: string,
  ) {
    this.database = database;
    this.vault = vault;
    this.clock = clock;
  }

  /**
   * @param state made by `randomText`
   * @param secret the data that completes the sign-in, at least the verifier
   */
  async add(
    transaction: Transaction,
    state: string,
    signIn: Omit<SignIn, 'stateDigest' | 'createdAt' | 'expiresAt'>,
    secret: string,
  ): Promise<void> {
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + SIGN_IN_LIFETIME_MS);
    const row = { ...signIn, stateDigest: sha256(state), createdAt, expiresAt } as object as StoredSignIn;
    await this.removeBeyond(transaction, row.organizationId, row.ownerId, MAX_OPEN_SIGN_INS - 1);
    await transaction.em.insert(this.table, row);
    await this.vault.put(transaction, this.refOf(row), secret);
  }

  async isOpen(state: string | undefined): Promise<boolean> {
    if (state === undefined) return false;
    const where = { stateDigest: sha256(state), expiresAt: { $gt: this.clock.now() } };
    return (await this.database.read((em) => em.count(this.table, where))) > 0;
  }

  /** Removes and returns the sign-in, for only one caller. Of any organization, because the state is the credential. @returns null if it is unknown or expired */
  async take(state: string | undefined): Promise<TakenSignIn<SignIn> | null> {
    if (state === undefined) return null;
    const taken = await this.database.transaction(async (transaction) => {
      const found = await transaction.em.findOne(
        this.table,
        { stateDigest: sha256(state) },
        { disableIdentityMap: true },
      );
      if (!found) return null;
      const [secret] = await this.vault.readMany([this.refOf(found)], transaction);
      const isTaken = await this.remove(transaction, found);
      return isTaken && secret !== undefined ? { signIn: found as SignIn, secret } : null;
    });
    return taken && taken.signIn.expiresAt > this.clock.now() ? taken : null;
  }

  removeOpen(transaction: Transaction, organizationId: string, ownerId: string): Promise<void> {
    return this.removeBeyond(transaction, organizationId, ownerId, 0);
  }

  /** Removes expired sign-ins of all organizations and their secrets. @throws the reason of `signal` */
  async removeExpired(signal: AbortSignal): Promise<void> {
    const where = { expiresAt: { $lte: this.clock.now() } };
    for (let found = REMOVE_BATCH; found === REMOVE_BATCH;) {
      signal.throwIfAborted();
      found = await this.database.transaction(async (transaction) => {
        const expired = await transaction.em.find(this.table, where, {
          orderBy: { expiresAt: 'asc' },
          limit: REMOVE_BATCH,
        });
        for (const signIn of expired) await this.remove(transaction, signIn);
        return expired.length;
      });
    }
  }

  private async removeBeyond(
    transaction: Transaction,
    organizationId: string,
    ownerId: string,
    offset: number,
  ): Promise<void> {
    const orderBy = { createdAt: 'desc', stateDigest: 'desc' } as const;
    const old = await transaction.em.find(this.table, { organizationId, ownerId }, { orderBy, offset });
    for (const signIn of old) await this.remove(transaction, signIn);
  }

  private async remove(
    transaction: Transaction,
    { organizationId, ownerId, stateDigest }: StoredSignIn,
  ): Promise<boolean> {
    const removed = await transaction.em.nativeDelete(this.table, { organizationId, stateDigest });
    await this.vault.remove(transaction, [this.refOf({ organizationId, ownerId, stateDigest })]);
    return removed > 0;
  }

  private refOf({
    organizationId,
    ownerId,
    stateDigest,
  }: Pick<StoredSignIn, 'organizationId' | 'ownerId' | 'stateDigest'>) {
    return { organizationId, recordId: ownerId, field: `${this.prefix}.sign_in.${stateDigest}` };
  }

  private get table(): EntitySchema<StoredSignIn> {
    return this.entity as EntitySchema<unknown> as EntitySchema<StoredSignIn>;
  }
}

/** A state, or a verifier of RFC 7636. */
export function randomText(): string {
  return secureRandomBytes(RANDOM_BYTES).toString('base64url');
}

/** In base64url: the key of a state's sign-in, or the challenge `S256` of a verifier. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
