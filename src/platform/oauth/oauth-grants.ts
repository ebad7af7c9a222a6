import type { EntitySchema } from '@mikro-orm/core';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { z } from 'zod';
import type { Clock } from '../clock/index.js';
import {
  type Database,
  DatabaseUnavailable,
  type EntityReader,
  type SqlExecutor,
  type Transaction,
} from '../database/index.js';
import { newId } from '../ids/index.js';
import { SecretUnreadable, type Vault } from '../vault/index.js';
import { REFRESH_LEASE_MS, REFRESH_POLL_MS, REFRESH_WAIT_MS, SAVE_PAUSE_MS, SAVE_WAIT_MS } from './limits.js';
import type { GrantOwner, StoredGrant } from './oauth.entities.js';
import type { ReceivedTokens } from './received-tokens.js';

const tokensSchema = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** The URL for which they were issued, if grants have different ones. */
  serverUrl: z.string().optional(),
});
export type Tokens = z.output<typeof tokensSchema>;

export interface GrantSecrets {
  readonly tokens: Tokens;
  /** JSON of the client to which the tokens were issued, if grants have different ones. */
  readonly client?: string | undefined;
}

export interface UsableGrant<Grant> {
  readonly grant: Grant;
  readonly tokens: Tokens;
}

/** `none`: no sign-in was completed. `gone`: the grant was withdrawn. `busy`: another process did not finish its refresh. */
export type Unusable = 'none' | 'gone' | 'busy';

/** The authorization server has rejected the refresh token or the client, and would reject a retry. */
export class GrantRejected extends Error {}

export interface OAuthServices {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** A refresh by one process on behalf of all. */
interface RefreshClaim extends GrantOwner {
  /** The generation of the tokens to replace. */
  readonly generation: string;
  readonly lease: string;
}

const NO_LEASE = { refreshLease: null, refreshingUntil: null };

/**
 * The grants of one table and their tokens. One process refreshes a grant's tokens at a time, because many servers revoke a grant
 * whose refresh token is used twice. The claim is a row, so that no connection is held during the request.
 */
export abstract class OAuthGrants<Grant extends StoredGrant> implements BeforeApplicationShutdown {
  protected readonly clock: Clock;
  protected readonly database: Database;
  private readonly vault: Vault;
  private readonly underWay = new Map<string, Promise<void>>();

  /** @param prefix the vault keeps the secrets under `<prefix>.tokens` and `<prefix>.client` */
  constructor(
    { database, vault, clock }: OAuthServices,
    private readonly entity: EntitySchema<Grant>,
    private readonly prefix: string,
  ) {
    this.clock = clock;
    this.database = database;
    this.vault = vault;
  }

  find(owner: GrantOwner, source: EntityReader = this.database): Promise<Grant | null> {
    return source.read((em) =>
      em.findOne(this.table, keyOf(owner), { disableIdentityMap: true }),
    ) as Promise<Grant | null>;
  }

  /** Replaces any grant of the owner; a refresh that is under way stores nothing. */
  async put(
    transaction: Transaction,
    grant: Omit<Grant, keyof typeof NO_LEASE>,
    { tokens, client }: GrantSecrets,
  ): Promise<void> {
    const row = { ...grant, ...NO_LEASE } as object as StoredGrant;
    await transaction.em.upsert(this.table, row, { disableIdentityMap: true });
    const owner = { organizationId: row.organizationId, id: row.ownerId };
    await this.putSecret(transaction, owner, 'tokens', JSON.stringify(tokens));
    if (client !== undefined) await this.putSecret(transaction, owner, 'client', client);
  }

  /** @returns null if there are none, or they cannot be decrypted: a new sign-in replaces them */
  async secretsOf(owner: GrantOwner): Promise<GrantSecrets | null> {
    try {
      return await this.readSecrets(owner, this.database);
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }

  async removeSecrets(transaction: Transaction, owner: GrantOwner): Promise<void> {
    await this.vault.remove(transaction, [this.refOf(owner, 'tokens'), this.refOf(owner, 'client')]);
  }

  /** The current tokens, refreshed if they are about to expire. @throws `failure`; what `request` throws */
  protected async current(owner: GrantOwner): Promise<UsableGrant<Grant>> {
    const usable = await this.usable(owner);
    const { refreshAt, expiresAt } = usable.grant;
    if (refreshAt === null || refreshAt > this.clock.now()) return usable;
    try {
      await this.refresh(owner, usable.grant.generation);
    } catch (error) {
      // The request may succeed later; the token is valid until it expires.
      if (error instanceof DatabaseUnavailable || expiresAt === null || expiresAt <= this.clock.now()) throw error;
      const { status } = (await this.find(owner)) ?? {};
      if (status === 'authorized') return usable;
      throw error;
    }
    return this.usable(owner);
  }

  /** @throws `failure` */
  protected async usable(owner: GrantOwner): Promise<UsableGrant<Grant>> {
    const { grant, tokens } = await this.load(owner);
    if (grant?.status !== 'authorized') throw this.failure(grant ? 'gone' : 'none');
    if (!tokens) throw this.failure('gone');
    return { grant, tokens };
  }

  protected async load(
    owner: GrantOwner,
  ): Promise<{ readonly grant: Grant | null; readonly tokens: Tokens | undefined }> {
    const grant = await this.find(owner);
    if (grant?.status !== 'authorized') return { grant, tokens: undefined };
    return { grant, tokens: (await this.secretsOf(owner))?.tokens };
  }

  /** Resolves once this or another process has replaced the tokens of `generation`. Throws as `current`. */
  protected refresh({ organizationId, id }: GrantOwner, generation: string): Promise<void> {
    const known = this.underWay.get(generation);
    if (known) return known;
    const refresh = this.refreshOnce({ organizationId, id, generation, lease: newId() });
    const settled = refresh.finally(() => this.underWay.delete(generation));
    this.underWay.set(generation, settled);
    return settled;
  }

  /** Requests new tokens. @throws GrantRejected; any other error keeps the grant */
  protected abstract request(secrets: GrantSecrets): Promise<ReceivedTokens>;
  /** The error that callers get for a grant that cannot be used. */
  protected abstract failure(why: Unusable): Error;

  /** Columns of the context that change with the tokens. */
  protected columnsOf(_received: ReceivedTokens): Partial<Grant> {
    return {};
  }

  /** Called when this process has ended the grant and removed its secrets. */
  protected lost(_owner: GrantOwner): void {
    // A context overrides it to notify other processes.
  }

  /** Some servers reject the old token as soon as they receive a request, so aborting it would lose the grant. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.underWay.values());
  }

  private async refreshOnce(claim: RefreshClaim): Promise<void> {
    const deadline = this.clock.monotonic() + REFRESH_WAIT_MS;
    for (;;) {
      const claimed = await this.claimWithSecrets(claim);
      if (claimed) return this.refreshClaimed(claim, claimed.secrets);
      const grant = await this.find(claim);
      if (grant?.status !== 'authorized') throw this.failure(grant ? 'gone' : 'none');
      if (grant.generation !== claim.generation) return;
      if (this.clock.monotonic() >= deadline) throw this.failure('busy');
      await this.clock.sleep(REFRESH_POLL_MS);
    }
  }

  /** Reads the secrets in the transaction of the claim, so that they belong to its generation. */
  private claimWithSecrets(claim: RefreshClaim): Promise<{ readonly secrets: GrantSecrets | null } | null> {
    const now = this.clock.now();
    return this.database.transaction(async (transaction) => {
      if (!(await this.claim(transaction, claim, now))) return null;
      return { secrets: await this.readSecrets(claim, transaction) };
    });
  }

  /** Claims the refresh of these tokens for `REFRESH_LEASE_MS`. @returns false if another claim is valid, or the tokens have changed */
  async claim({ em }: Transaction, claim: RefreshClaim, now: Date): Promise<boolean> {
    const until = new Date(now.getTime() + REFRESH_LEASE_MS);
    // A claim that ends later than this is from before the clock was set back. Clocks of machines differ by less.
    const latest = new Date(until.getTime() + REFRESH_LEASE_MS);
    const free = [{ refreshingUntil: null }, { refreshingUntil: { $lt: now } }, { refreshingUntil: { $gt: latest } }];
    const where = { ...keyOf(claim), generation: claim.generation, status: 'authorized' as const, $or: free };
    return (await em.nativeUpdate(this.table, where, { refreshLease: claim.lease, refreshingUntil: until })) > 0;
  }

  private async refreshClaimed(claim: RefreshClaim, secrets: GrantSecrets | null): Promise<void> {
    let received: ReceivedTokens;
    try {
      if (secrets?.tokens.refreshToken === undefined) throw new GrantRejected();
      received = await this.request(secrets);
    } catch (error) {
      if (!(error instanceof GrantRejected)) {
        await this.database.write((em) => em.nativeUpdate(this.table, heldBy(claim), NO_LEASE));
        throw error;
      }
      await this.end(claim);
      throw this.failure('gone');
    }
    const refreshToken = received.refreshToken ?? secrets.tokens.refreshToken;
    await this.save(claim, received, { ...secrets.tokens, accessToken: received.accessToken, refreshToken });
  }

  /** Retries while the database is unavailable, because the server no longer accepts the old token. */
  private async save(claim: RefreshClaim, received: ReceivedTokens, tokens: Tokens): Promise<void> {
    const { expiresAt, refreshAt } = received;
    const changes = { ...this.columnsOf(received), generation: newId(), expiresAt, refreshAt, ...NO_LEASE };
    const deadline = this.clock.monotonic() + SAVE_WAIT_MS;
    for (;;) {
      try {
        await this.database.transaction(async (transaction) => {
          // Zero rows: a new sign-in has replaced the grant, or another process has replaced the claim.
          if ((await transaction.em.nativeUpdate(this.table, heldBy(claim), changes)) === 0) return;
          await this.putSecret(transaction, claim, 'tokens', JSON.stringify(tokens));
        });
        return;
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || this.clock.monotonic() >= deadline) throw error;
        await this.clock.sleep(SAVE_PAUSE_MS);
      }
    }
  }

  private async end(claim: RefreshClaim): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const ended = await transaction.em.nativeUpdate(this.table, heldBy(claim), { status: 'gone', ...NO_LEASE });
      if (ended > 0) await this.removeSecrets(transaction, claim);
    });
    this.lost(claim);
  }

  private async readSecrets(owner: GrantOwner, source: SqlExecutor): Promise<GrantSecrets | null> {
    const [tokens, client] = await this.vault.readMany(
      [this.refOf(owner, 'tokens'), this.refOf(owner, 'client')],
      source,
    );
    return tokens === undefined ? null : { tokens: tokensSchema.parse(JSON.parse(tokens)), client };
  }

  private async putSecret(
    transaction: Transaction,
    owner: GrantOwner,
    field: 'tokens' | 'client',
    value: string,
  ): Promise<void> {
    await this.vault.put(transaction, this.refOf(owner, field), value);
  }

  private refOf({ organizationId, id }: GrantOwner, field: 'tokens' | 'client') {
    return { organizationId, recordId: id, field: `${this.prefix}.${field}` };
  }

  /** The ORM's filters cannot be typed for columns of a type parameter. */
  private get table(): EntitySchema<StoredGrant> {
    return this.entity as EntitySchema<unknown> as EntitySchema<StoredGrant>;
  }
}

function keyOf({ organizationId, id }: GrantOwner) {
  return { organizationId, ownerId: id };
}

function heldBy(claim: RefreshClaim) {
  return { ...keyOf(claim), refreshLease: claim.lease };
}
