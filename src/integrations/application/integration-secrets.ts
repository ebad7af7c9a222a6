import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { SqlExecutor, Transaction } from '../../platform/database/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import { headerField, type Integration, type IntegrationSettings, secretFieldsOf } from '../domain/integration.js';
import { type IntegrationRequest, leavesOAuth, leavesOrigin } from '../domain/integration-request.js';

type Secrets = ReadonlyMap<string, string>;

/** The secrets of integrations in the vault, under the id of the integration. */
@Injectable()
export class IntegrationSecrets {
  constructor(private readonly vault: Vault) {}

  async store(transaction: Transaction, integration: Integration, secrets: Secrets): Promise<void> {
    for (const [field, value] of secrets) await this.vault.put(transaction, secretRef(integration, field), value);
  }

  /** Includes OAuth tokens. */
  async removeAll(transaction: Transaction, { organizationId, id }: Integration): Promise<void> {
    await this.vault.removeRecord(transaction, organizationId, id);
  }

  /** Whether the sent values equal all stored ones. Compares in constant time. */
  async agree(transaction: Transaction, integration: Integration, sent: Secrets): Promise<boolean> {
    const fields = secretFieldsOf(integration.settings);
    const stored = await this.readable(transaction, integration);
    const same = fields.map((field) => sameSecret(stored.get(field), sent.get(field)));
    return sent.size === fields.length && same.every(Boolean);
  }

  /**
   * Stores the secrets of the request and removes those that it drops.
   * @param settings after the change
   * @returns whether a secret was changed or removed
   * @throws ValidationFailed if a header keeps a value that is not stored, or that must not be sent to another origin
   */
  async replace(
    transaction: Transaction,
    current: Integration,
    request: IntegrationRequest,
    settings: IntegrationSettings,
  ): Promise<boolean> {
    const stored = await this.readable(transaction, current);
    requireKept(request, current.settings, settings, stored);
    const fields = secretFieldsOf(settings);
    if (leavesOrigin(current.settings, settings) || leavesOAuth(current.settings, settings)) {
      // This removes OAuth tokens too, whose field names are unknown here.
      await this.removeAll(transaction, current);
      const kept = [...stored].filter(([field]) => fields.includes(field));
      await this.store(transaction, current, new Map([...kept, ...request.newSecrets]));
      return true;
    }
    const dropped = secretFieldsOf(current.settings).filter((field) => !fields.includes(field));
    const changed = [...request.newSecrets].filter(([field, value]) => !sameSecret(stored.get(field), value));
    await this.vault.remove(
      transaction,
      dropped.map((field) => secretRef(current, field)),
    );
    await this.store(transaction, current, new Map(changed));
    return dropped.length + changed.length > 0;
  }

  /** The stored values by field. @throws SecretUnreadable */
  async read(
    integration: Integration,
    fields: readonly string[] = secretFieldsOf(integration.settings),
    source?: SqlExecutor,
  ): Promise<Secrets> {
    const refs = fields.map((field) => secretRef(integration, field));
    const values = await this.vault.readMany(refs, source);
    return new Map(
      fields.flatMap((field, index) => (values[index] === undefined ? [] : [[field, values[index]] as const])),
    );
  }

  /** As `read`, without secrets that cannot be decrypted: the customer can replace those by storing new ones. */
  private async readable(
    transaction: Transaction,
    integration: Integration,
    fields = secretFieldsOf(integration.settings),
  ): Promise<Secrets> {
    try {
      return await this.read(integration, fields, transaction);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      const readable: [string, string][] = [];
      // At least one is unreadable: read each alone.
      for (const field of fields.length > 1 ? fields : []) {
        readable.push(...(await this.readable(transaction, integration, [field])));
      }
      return new Map(readable);
    }
  }
}

function secretRef({ organizationId, id }: Integration, field: string): SecretRef {
  return { organizationId, recordId: id, field };
}

/** Compares digests, because `timingSafeEqual` needs equal lengths. */
function sameSecret(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return timingSafeEqual(digestOf(one), digestOf(other));
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function requireKept(
  { keptHeaders }: IntegrationRequest,
  before: IntegrationSettings,
  after: IntegrationSettings,
  stored: Secrets,
): void {
  for (const { name, keyName } of keptHeaders) {
    const field = headerField(name);
    const path = `body/httpHeaders/${name}`;
    if (!stored.has(field)) {
      throw new ValidationFailed(`${path} has no stored value; send one with the type secret`);
    }
    if (keyName !== undefined && keyName !== field) {
      throw new ValidationFailed(`${path}/keyName must be '${field}', where its value is stored, or left out`);
    }
    if (leavesOrigin(before, after)) {
      throw new ValidationFailed(
        `${path} must be sent again with its value: body/url leads to another origin, and a stored secret never goes there`,
      );
    }
  }
}
