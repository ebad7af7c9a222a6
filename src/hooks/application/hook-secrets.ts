import { Injectable } from '@nestjs/common';
import type { SqlExecutor, Transaction } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import type { SigningSecret } from '../../platform/standard-webhooks/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import type { HeaderValues } from '../domain/header-values.js';
import { piecesOf } from '../domain/text.js';
import { MAX_SECRET_CHARACTERS } from '../limits.js';
import type { HooksOwner } from '../persistence/agent-hooks.repository.js';
import type { StoredHeaders } from '../persistence/hooks.schema.js';

export interface HookSecrets {
  /** Undefined when another document replaced the one that the caller read. */
  readonly headers: HeaderValues | undefined;
  readonly signing: SigningSecret | null;
}

/**
 * The values of headers and the signing secret, in the vault under the id of the agent, so that deleting the agent deletes
 * them. The values of a document are read and written as a whole, usually as one secret. Large values are split, because the
 * embedded database blocks for a tenth of a second for each megabyte of a statement. The names of the secrets change with each
 * write: a reader never combines one document with the values of another.
 */
@Injectable()
export class HookSecretStore {
  constructor(private readonly vault: Vault) {}

  /** @throws SecretUnreadable */
  async read(owner: HooksOwner, stored: StoredHeaders | null, source?: SqlExecutor): Promise<HookSecrets> {
    const [first, ...others] = stored ? headerRefs(owner, stored) : [];
    const [signing, firstPiece] = await this.vault.readMany([signingRef(owner), ...(first ? [first] : [])], source);
    const headers = stored ? await this.joined(firstPiece, others, source) : {};
    return { headers, signing: parsedSigning(signing) };
  }

  /** The values of headers. Values that cannot be decrypted count as missing, so that a customer can replace them. */
  async readableHeaders(owner: HooksOwner, stored: StoredHeaders | null, source: SqlExecutor): Promise<HeaderValues> {
    if (!stored) return {};
    const [first, ...others] = headerRefs(owner, stored);
    const headers = await readable(async () => this.joined(await this.one(first, source), others, source));
    return headers ?? {};
  }

  /** As `readableHeaders`, for the signing secret. */
  async readableSigning(owner: HooksOwner, source: SqlExecutor): Promise<SigningSecret | null> {
    return parsedSigning(await readable(() => this.one(signingRef(owner), source)));
  }

  /** Removes the headers at `before`. @returns where the new headers are; null when no handler has any */
  async storeHeaders(
    transaction: Transaction,
    owner: HooksOwner,
    before: StoredHeaders | null,
    headers: HeaderValues | undefined,
  ): Promise<StoredHeaders | null> {
    if (before) await this.vault.remove(transaction, headerRefs(owner, before));
    if (headers === undefined) return null;
    const pieces = piecesOf(JSON.stringify(headers), MAX_SECRET_CHARACTERS);
    const stored = { id: newId(), pieces: pieces.length };
    for (const [index, ref] of headerRefs(owner, stored).entries())
      await this.vault.put(transaction, ref, pieces[index] ?? '');
    return stored;
  }

  storeSigning(transaction: Transaction, owner: HooksOwner, signing: SigningSecret): Promise<void> {
    return this.vault.put(transaction, signingRef(owner), JSON.stringify(signing));
  }

  private async joined(
    first: string | undefined,
    others: readonly SecretRef[],
    source?: SqlExecutor,
  ): Promise<HeaderValues | undefined> {
    const pieces = [first];
    // One statement for each piece, so that other work runs in between.
    for (const ref of others) pieces.push(await this.one(ref, source));
    return pieces.includes(undefined) ? undefined : (JSON.parse(pieces.join('')) as HeaderValues);
  }

  private async one(ref: SecretRef | undefined, source?: SqlExecutor): Promise<string | undefined> {
    const [secret] = await this.vault.readMany(ref ? [ref] : [], source);
    return secret;
  }
}

async function readable<Secret>(read: () => Promise<Secret>): Promise<Secret | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SecretUnreadable) return undefined;
    throw error;
  }
}

function parsedSigning(signing: string | undefined): SigningSecret | null {
  return signing === undefined ? null : (JSON.parse(signing) as SigningSecret);
}

function signingRef({ organizationId, agentId }: HooksOwner): SecretRef {
  return { organizationId, recordId: agentId, field: 'hooks.signing' };
}

function headerRefs({ organizationId, agentId }: HooksOwner, { id, pieces }: StoredHeaders): SecretRef[] {
  return Array.from({ length: pieces }, (_, index) => ({
    organizationId,
    recordId: agentId,
    field: `hooks.headers.${id}.${index}`,
  }));
}
