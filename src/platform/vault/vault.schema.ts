import { type ContextSchema, migration } from '../database/index.js';

/** One row a secret. Written and read by SQL alone, so no unit of work ever holds a row of it. */
export const vaultSchema: ContextSchema = {
  entities: [],
  migrations: [
    migration('2026112100_platform_vault', [
      `create table secrets (
        organization_id uuid not null,
        record_id uuid not null,
        field text not null,
        ciphertext bytea not null,
        nonce bytea not null,
        wrapped_key bytea not null,
        key_id text not null,
        updated_at timestamptz not null,
        primary key (organization_id, record_id, field)
      )`,
      'create index secrets_key_id on secrets (key_id)',
    ]),
  ],
};
