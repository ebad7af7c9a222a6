import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, isUniqueViolation, type Transaction } from '../../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../../platform/vault/index.js';
import { ServiceAccountExists } from '../domain/drive-errors.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { type ServiceAccountKey, serviceAccountKey } from '../domain/service-account-key.js';
import { type ServiceAccount, StoredServiceAccount } from './drive.entities.js';
import { COUNT_AGENTS } from './drive-sources.sql.js';

export interface ListedServiceAccount extends ServiceAccount {
  /** Agents that use it. */
  readonly agentCount: number;
}

/** The service accounts of organizations. Their keys are in the vault. */
@Injectable()
export class ServiceAccountRepository {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  /** @throws ServiceAccountExists */
  async add(transaction: Transaction, account: ServiceAccount, key: ServiceAccountKey): Promise<void> {
    try {
      await transaction.em.insert(StoredServiceAccount, account);
    } catch (error) {
      if (isUniqueViolation(error)) throw new ServiceAccountExists(account.clientEmail);
      throw error;
    }
    await this.vault.put(transaction, keyOf(account.organizationId, account.id), JSON.stringify(key));
  }

  /** The oldest first. */
  async list(organizationId: string): Promise<ListedServiceAccount[]> {
    const oldestFirst = { orderBy: { id: 'asc' } } as const;
    const accounts = await this.database.read((em) => em.find(StoredServiceAccount, { organizationId }, oldestFirst));
    const used = await COUNT_AGENTS.run<{ accountId: string; agents: number }>(this.database, { organizationId });
    const counts = new Map(used.map(({ accountId, agents }) => [accountId, agents]));
    return accounts.map((account) => ({ ...account, agentCount: counts.get(account.id) ?? 0 }));
  }

  /** Locks it until the transaction ends, so that no agent can start to use it. */
  lock({ em }: Transaction, organizationId: string, id: string): Promise<ServiceAccount | null> {
    return em.findOne(StoredServiceAccount, { organizationId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  async remove(transaction: Transaction, organizationId: string, id: string): Promise<void> {
    await transaction.em.nativeDelete(StoredServiceAccount, { organizationId, id });
    await this.vault.remove(transaction, [keyOf(organizationId, id)]);
  }

  /** @throws DriveFailure `refused` where the vault has no readable key */
  async readKey(organizationId: string, id: string): Promise<ServiceAccountKey> {
    try {
      return serviceAccountKey.parse(JSON.parse(await this.vault.read(keyOf(organizationId, id))));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      const { message: detail } = error;
      throw new DriveFailure('refused', 'The key of the service account cannot be read; add the account again.', {
        detail,
      });
    }
  }
}

function keyOf(organizationId: string, recordId: string): SecretRef {
  return { organizationId, recordId, field: 'drive.key' };
}
