import { Injectable } from '@nestjs/common';
import type { SqlExecutor, Transaction } from '../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import { type HandlerUrls, type HeaderValues, type HooksWithHeaders, urlsIn } from '../domain/header-values.js';
import type { HooksOwner } from '../persistence/agent-hooks.repository.js';

/** The signing secret of an agent, and the one that it had before. */
export interface SigningSecret {
  readonly current: string;
  /** Null where there was none before. */
  readonly previous: { readonly secret: string; /** ISO 8601. */ readonly until: string } | null;
}

/** As it is stored: values, and where the handlers are that they were written for. */
interface StoredHeaders {
  readonly values: HeaderValues;
  readonly urls: HandlerUrls;
}

export interface HookSecrets {
  readonly headers: HeaderValues;
  /** Of the document that the values were stored with; empty where none are stored. */
  readonly urls: HandlerUrls;
  readonly signing: SigningSecret | null;
}

const HEADERS = 'hooks.headers';
const SIGNING = 'hooks.signing';

/**
 * The values of headers and the signing secret in the vault, under the id of the agent, with which they go. All values of
 * headers are one secret: a document has hundreds of them, and is always read and written whole.
 */
@Injectable()
export class HookSecretStore {
  constructor(private readonly vault: Vault) {}

  /** @throws SecretUnreadable */
  async read(owner: HooksOwner, source?: SqlExecutor): Promise<HookSecrets> {
    const [headers, signing] = await this.vault.readMany([refOf(owner, HEADERS), refOf(owner, SIGNING)], source);
    return parsed(headers, signing);
  }

  /** As `read`, where a secret that no longer opens counts as none: storing another is the way out of that. */
  async readable(owner: HooksOwner, source: SqlExecutor): Promise<HookSecrets> {
    try {
      return await this.read(owner, source);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      // The other one may open, and would be lost with it.
      return parsed(await this.opened(refOf(owner, HEADERS), source), await this.opened(refOf(owner, SIGNING), source));
    }
  }

  /** @param hooks undefined where no handler has headers */
  async storeHeaders(transaction: Transaction, owner: HooksOwner, hooks: HooksWithHeaders | undefined): Promise<void> {
    const ref = refOf(owner, HEADERS);
    if (hooks === undefined) return this.vault.remove(transaction, [ref]);
    const stored: StoredHeaders = { values: hooks.headers, urls: urlsIn(hooks.document) };
    await this.vault.put(transaction, ref, JSON.stringify(stored));
  }

  storeSigning(transaction: Transaction, owner: HooksOwner, signing: SigningSecret): Promise<void> {
    return this.vault.put(transaction, refOf(owner, SIGNING), JSON.stringify(signing));
  }

  private async opened(ref: SecretRef, source: SqlExecutor): Promise<string | undefined> {
    try {
      const [secret] = await this.vault.readMany([ref], source);
      return secret;
    } catch (error) {
      if (error instanceof SecretUnreadable) return undefined;
      throw error;
    }
  }
}

function parsed(headers: string | undefined, signing: string | undefined): HookSecrets {
  const { values, urls }: StoredHeaders = headers === undefined ? { values: {}, urls: {} } : (JSON.parse(headers) as StoredHeaders);
  return { headers: values, urls, signing: signing === undefined ? null : (JSON.parse(signing) as SigningSecret) };
}

function refOf({ organizationId, agentId }: HooksOwner, field: typeof HEADERS | typeof SIGNING): SecretRef {
  return { organizationId, recordId: agentId, field };
}
