import { Injectable } from '@nestjs/common';
import type { SqlExecutor, Transaction } from '../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import { headerPlacesIn, type HeaderValues, type HooksWithHeaders } from '../domain/header-values.js';
import type { HooksOwner } from '../persistence/agent-hooks.repository.js';

/** The signing secret of an agent, and the one that it had before. */
export interface SigningSecret {
  readonly current: string;
  /** Null where there was none before. */
  readonly previous: { readonly secret: string; /** ISO 8601. */ readonly until: string } | null;
}

export interface HookSecrets {
  readonly headers: HeaderValues;
  /** Of the document that the headers are for. */
  readonly headerPlaces: string;
  readonly signing: SigningSecret | null;
}

/** The headers as they are stored. */
type StoredHeaders = Pick<HookSecrets, 'headers' | 'headerPlaces'>;

const NO_HEADERS: StoredHeaders = { headers: {}, headerPlaces: '' };

const FIELDS = ['hooks.headers', 'hooks.signing'] as const;

/**
 * The values of headers and the signing secret in the vault, under the id of the agent, with which they go. All values of
 * headers are one secret: a document has hundreds of them, and is always read and written whole.
 */
@Injectable()
export class HookSecretStore {
  constructor(private readonly vault: Vault) {}

  /** @throws SecretUnreadable */
  async read(owner: HooksOwner, source?: SqlExecutor): Promise<HookSecrets> {
    const [headers, signing] = await this.vault.readMany(FIELDS.map((field) => refOf(owner, field)), source);
    return {
      ...(headers === undefined ? NO_HEADERS : (JSON.parse(headers) as StoredHeaders)),
      signing: signing === undefined ? null : (JSON.parse(signing) as SigningSecret),
    };
  }

  /** As `read`, where a secret that no longer opens counts as none: storing another is the way out of that. */
  async readable(owner: HooksOwner, source: SqlExecutor): Promise<HookSecrets> {
    try {
      return await this.read(owner, source);
    } catch (error) {
      if (error instanceof SecretUnreadable) return { ...NO_HEADERS, signing: null };
      throw error;
    }
  }

  async storeHeaders(transaction: Transaction, owner: HooksOwner, { document, headers }: HooksWithHeaders): Promise<void> {
    const ref = refOf(owner, FIELDS[0]);
    const headerPlaces = headerPlacesIn(document);
    if (headerPlaces === '') await this.vault.remove(transaction, [ref]);
    else await this.vault.put(transaction, ref, JSON.stringify({ headers, headerPlaces } satisfies StoredHeaders));
  }

  storeSigning(transaction: Transaction, owner: HooksOwner, signing: SigningSecret): Promise<void> {
    return this.vault.put(transaction, refOf(owner, FIELDS[1]), JSON.stringify(signing));
  }
}

function refOf({ organizationId, agentId }: HooksOwner, field: (typeof FIELDS)[number]): SecretRef {
  return { organizationId, recordId: agentId, field };
}
