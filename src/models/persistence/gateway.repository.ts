import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { type SecretRef, Vault } from '../../platform/vault/index.js';
import type { GatewayWithToken, OrganizationGateway } from '../domain/gateway.js';
import { StoredGateway } from './models.schema.js';

/** The gateways of organizations, with their tokens in the vault. */
@Injectable()
export class GatewayRepository {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  async find(organizationId: string): Promise<OrganizationGateway | null> {
    const row = await this.database.read((em) => em.findOne(StoredGateway, { organizationId }));
    return row && { edgeAccountId: row.edgeAccountId, gatewayName: row.gatewayName, updatedAt: row.updatedAt };
  }

  async findWithToken(organizationId: string): Promise<GatewayWithToken | null> {
    const gateway = await this.find(organizationId);
    return gateway && { ...gateway, token: await this.vault.read(tokenOf(organizationId)) };
  }

  async put(
    transaction: Transaction,
    organizationId: string,
    { token, ...gateway }: OrganizationGateway & GatewayWithToken,
  ): Promise<void> {
    await transaction.em.upsert(StoredGateway, { organizationId, ...gateway });
    await this.vault.put(transaction, tokenOf(organizationId), token);
  }

  /** @returns whether there was one */
  async remove(transaction: Transaction, organizationId: string): Promise<boolean> {
    // In the order of `put`, so that the two cannot deadlock.
    const removed = await transaction.em.nativeDelete(StoredGateway, { organizationId });
    await this.vault.remove(transaction, [tokenOf(organizationId)]);
    return removed > 0;
  }
}

function tokenOf(organizationId: string): SecretRef {
  return { organizationId, recordId: organizationId, field: 'aiGateway.token' };
}
