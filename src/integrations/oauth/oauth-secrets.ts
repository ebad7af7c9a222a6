import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { Database, type SqlExecutor, type Transaction } from '../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import { type OAuthClient, oauthClientSchema, type SignInSecrets, signInSecretsSchema, type Tokens, tokensSchema } from './oauth-client.js';

const TOKENS = 'oauth.tokens';
const CLIENT = 'oauth.client';

/** Whose secrets they are. */
interface Owner {
  readonly organizationId: string;
  readonly integrationId: string;
}

export interface GrantSecrets {
  readonly tokens: Tokens;
  readonly client: OAuthClient;
}

/** Tokens, registrations and verifiers, in the vault record of their integration. */
@Injectable()
export class OAuthSecrets {
  constructor(
    private readonly vault: Vault,
    private readonly database: Database,
  ) {}

  /** @returns null where there are none */
  async readGrant(owner: Owner, source: SqlExecutor = this.database): Promise<GrantSecrets | null> {
    const refs = [refOf(owner, TOKENS), refOf(owner, CLIENT)];
    const [tokens, client] = await this.vault.readMany(refs, source);
    if (tokens === undefined || client === undefined) return null;
    return { tokens: read(tokensSchema, tokens), client: read(oauthClientSchema, client) };
  }

  /** @returns null also where the key that sealed them is gone: a new sign-in brings others */
  async readableGrant(owner: Owner): Promise<GrantSecrets | null> {
    try {
      return await this.readGrant(owner);
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }

  async putGrant(transaction: Transaction, owner: Owner, { tokens, client }: GrantSecrets): Promise<void> {
    await this.putTokens(transaction, owner, tokens);
    await this.vault.put(transaction, refOf(owner, CLIENT), JSON.stringify(client));
  }

  async putTokens(transaction: Transaction, owner: Owner, tokens: Tokens): Promise<void> {
    await this.vault.put(transaction, refOf(owner, TOKENS), JSON.stringify(tokens));
  }

  async removeGrant(transaction: Transaction, owner: Owner): Promise<void> {
    await this.vault.remove(transaction, [refOf(owner, TOKENS), refOf(owner, CLIENT)]);
  }

  async putSignIn(transaction: Transaction, owner: Owner, stateDigest: string, secrets: SignInSecrets): Promise<void> {
    await this.vault.put(transaction, signInRef(owner, stateDigest), JSON.stringify(secrets));
  }

  /** Reads and removes them. @returns null where there are none */
  async takeSignIn(transaction: Transaction, owner: Owner, stateDigest: string): Promise<SignInSecrets | null> {
    const ref = signInRef(owner, stateDigest);
    const [secrets] = await this.vault.readMany([ref], transaction);
    await this.vault.remove(transaction, [ref]);
    return secrets === undefined ? null : read(signInSecretsSchema, secrets);
  }

  async removeSignIn(transaction: Transaction, owner: Owner, stateDigest: string): Promise<void> {
    await this.vault.remove(transaction, [signInRef(owner, stateDigest)]);
  }
}

function signInRef(owner: Owner, stateDigest: string): SecretRef {
  return refOf(owner, `oauth.sign_in.${stateDigest}`);
}

function refOf({ organizationId, integrationId }: Owner, field: string): SecretRef {
  return { organizationId, recordId: integrationId, field };
}

function read<Schema extends z.ZodType>(schema: Schema, json: string): z.output<Schema> {
  return schema.parse(JSON.parse(json));
}
