import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import {
  Database,
  isUniqueViolation,
  queryBuilder,
  rowsOf,
  type Transaction,
} from '../../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../../platform/vault/index.js';
import { ServiceAccountExists } from '../domain/drive-errors.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { type ServiceAccountKey, serviceAccountKey } from '../domain/service-account-key.js';
import { type ServiceAccount, StoredServiceAccount } from './drive.entities.js';

export interface ListedServiceAccount extends ServiceAccount {
  /** Agents that use it. */
  readonly agentCount: number;
}

const tables = queryBuilder<{
  drive_sources: { organization_id: string; account_id: string | null; agent_id: string; removed_at: string | null };
}>();

/** The service accounts of organizations; their keys are in the vault. */
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
    const accounts = await this.database.read((em) =>
      em.find(StoredServiceAccount, { organizationId }, { orderBy: { id: 'asc' } }),
    );
    const used = tables
      .selectFrom('drive_sources')
      .select(['account_id as accountId', sql<number>`count(distinct agent_id)::integer`.as('agents')])
      .where('organization_id', '=', organizationId)
      .where('removed_at', 'is', null)
      .where(sql<boolean>`exists (select 1 from agents where agents.id = drive_sources.agent_id)`)
      .groupBy('account_id');
    const counts = new Map((await rowsOf(this.database, used)).map(({ accountId, agents }) => [accountId, agents]));
    return accounts.map((account) => ({ ...account, agentCount: counts.get(account.id) ?? 0 }));
  }

  /** Locks it, so that no agent begins to use it meanwhile. */
  lock({ em }: Transaction, organizationId: string, id: string): Promise<ServiceAccount | null> {
    return em.findOne(StoredServiceAccount, { organizationId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  async remove(transaction: Transaction, organizationId: string, id: string): Promise<void> {
    await transaction.em.nativeDelete(StoredServiceAccount, { organizationId, id });
    await this.vault.remove(transaction, [keyOf(organizationId, id)]);
  }

  /** @throws DriveFailure `refused` where there is none that can be read */
  async readKey(organizationId: string, id: string): Promise<ServiceAccountKey> {
    try {
      return serviceAccountKey.parse(JSON.parse(await this.vault.read(keyOf(organizationId, id))));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      throw new DriveFailure(
        'refused',
        'The key of the service account is gone; add the account again.',
        undefined,
        error.message,
      );
    }
  }
}

function keyOf(organizationId: string, recordId: string): SecretRef {
  return { organizationId, recordId, field: 'drive.key' };
}
