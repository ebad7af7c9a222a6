import { type ContextSchema, migration } from '../../platform/database/index.js';

export const modelsSchema: ContextSchema = {
  entities: [],
  migrations: [
    migration('2026112107_models_gateways', [
      `create table organization_gateways (
        organization_id uuid primary key references organizations (id) on delete cascade,
        edge_account_id text not null,
        gateway_name text not null,
        updated_at timestamptz(3) not null
      )`,
    ]),
  ],
};
