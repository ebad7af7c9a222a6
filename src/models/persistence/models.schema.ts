import { defineEntity, p } from '@mikro-orm/core';
import type { ContextSchema } from '../../platform/database/index.js';

export const StoredGateway = defineEntity({
  name: 'StoredGateway',
  tableName: 'organization_gateways',
  properties: {
    organizationId: p.uuid().primary(),
    edgeAccountId: p.text(),
    gatewayName: p.text(),
    updatedAt: p.datetime(3),
  },
});

export const modelsSchema: ContextSchema = {
  entities: [StoredGateway],
  base: [
    `create table organization_gateways (
      organization_id uuid primary key references organizations (id) on delete cascade,
      edge_account_id text not null,
      gateway_name text not null,
      updated_at timestamptz(3) not null
    )`,
  ],
};
