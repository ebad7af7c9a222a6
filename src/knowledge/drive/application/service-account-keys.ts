import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Transaction } from '../../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../../platform/vault/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import type { ServiceAccountKey } from '../domain/service-account-key.js';

const keySchema = z.object({ clientEmail: z.string(), projectId: z.string(), privateKeyId: z.string().nullable(), privateKey: z.string() });

/** The keys of service accounts, in the vault. */
@Injectable()
export class ServiceAccountKeys {
  constructor(private readonly vault: Vault) {}

  /** @throws DriveFailure `refused` where there is none that can be read */
  async read(organizationId: string, accountId: string): Promise<ServiceAccountKey> {
    try {
      return keySchema.parse(JSON.parse(await this.vault.read(refOf(organizationId, accountId))));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      throw new DriveFailure('refused', 'The key of the service account is gone; add the account again.', undefined, error.message);
    }
  }

  async put(transaction: Transaction, organizationId: string, accountId: string, key: ServiceAccountKey): Promise<void> {
    await this.vault.put(transaction, refOf(organizationId, accountId), JSON.stringify(key));
  }

  async remove(transaction: Transaction, organizationId: string, accountId: string): Promise<void> {
    await this.vault.remove(transaction, [refOf(organizationId, accountId)]);
  }
}

function refOf(organizationId: string, recordId: string): SecretRef {
  return { organizationId, recordId, field: 'drive.key' };
}
