import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import type { OrganizationGateway } from '../domain/gateway.js';
import { StoredGateway } from './models.schema.js';

@Injectable()
export class GatewayRepository {
  constructor(private readonly database: Database) {}

  async find(organizationId: string): Promise<OrganizationGateway | null> {
    const row = await this.database.read((em) => em.findOne(StoredGateway, { organizationId }));
    return row && { edgeAccountId: row.edgeAccountId, gatewayName: row.gatewayName, updatedAt: row.updatedAt };
  }

  /** Adds or replaces it. */
  async put({ em }: Transaction, organizationId: string, gateway: OrganizationGateway): Promise<void> {
    await em.upsert(StoredGateway, { organizationId, ...gateway });
  }

  /** @returns whether there was one */
  async remove({ em }: Transaction, organizationId: string): Promise<boolean> {
    return (await em.nativeDelete(StoredGateway, { organizationId })) > 0;
  }
}
