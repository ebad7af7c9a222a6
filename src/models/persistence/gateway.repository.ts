import { Injectable } from '@nestjs/common';
import { Database, toDate, type Transaction } from '../../platform/database/index.js';
import type { OrganizationGateway } from '../domain/gateway.js';

interface GatewayRow {
  edge_account_id: string;
  gateway_name: string;
  updated_at: string;
}

@Injectable()
export class GatewayRepository {
  constructor(private readonly database: Database) {}

  async find(organizationId: string): Promise<OrganizationGateway | null> {
    const [row] = await this.database.query<GatewayRow>(
      'select edge_account_id, gateway_name, updated_at from organization_gateways where organization_id = $1',
      [organizationId],
    );
    if (!row) return null;
    return { edgeAccountId: row.edge_account_id, gatewayName: row.gateway_name, updatedAt: toDate(row.updated_at) };
  }

  /** Sets it, whatever was there. */
  async put(
    transaction: Transaction,
    organizationId: string,
    { edgeAccountId, gatewayName, updatedAt }: OrganizationGateway,
  ): Promise<void> {
    await transaction.query(
      `insert into organization_gateways (organization_id, edge_account_id, gateway_name, updated_at)
       values ($1, $2, $3, $4)
       on conflict (organization_id) do update set edge_account_id = excluded.edge_account_id,
         gateway_name = excluded.gateway_name, updated_at = excluded.updated_at`,
      [organizationId, edgeAccountId, gatewayName, updatedAt.toISOString()],
    );
  }

  /** @returns whether there was one */
  async remove(transaction: Transaction, organizationId: string): Promise<boolean> {
    const gone = await transaction.query(
      'delete from organization_gateways where organization_id = $1 returning organization_id',
      [organizationId],
    );
    return gone.length > 0;
  }
}
