import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import type { SqlExecutor, Transaction } from '../../platform/database/index.js';
import { newSigningSecret, rotatedSecret, type SigningSecret } from '../../platform/standard-webhooks/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import type { EndpointRef } from '../persistence/delivery.repository.js';

export interface RotatedSecret {
  /** Shown only in the response of this request. */
  readonly secret: string;
  readonly createdAt: Date;
}

/** The signing secrets of endpoints, in the vault. */
@Injectable()
export class EndpointSecrets {
  constructor(
    private readonly vault: Vault,
    private readonly clock: Clock,
  ) {}

  /** @returns null when it cannot be decrypted, or the endpoint was deleted */
  async read(endpoint: EndpointRef, source?: SqlExecutor): Promise<SigningSecret | null> {
    try {
      const [stored] = await this.vault.readMany([refOf(endpoint)], source);
      return stored === undefined ? null : (JSON.parse(stored) as SigningSecret);
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }

  /** Creates the secret of an endpoint. The one before it, if there is one, also signs for 24 hours. */
  async rotate(transaction: Transaction, endpoint: EndpointRef): Promise<RotatedSecret> {
    const secret = newSigningSecret();
    const createdAt = this.clock.now();
    const rotated = rotatedSecret(await this.read(endpoint, transaction), secret, createdAt);
    await this.vault.put(transaction, refOf(endpoint), JSON.stringify(rotated));
    return { secret, createdAt };
  }

  remove(transaction: Transaction, { organizationId, id }: EndpointRef): Promise<void> {
    return this.vault.removeRecord(transaction, organizationId, id);
  }
}

function refOf({ organizationId, id }: EndpointRef): SecretRef {
  return { organizationId, recordId: id, field: 'webhook.signing' };
}
