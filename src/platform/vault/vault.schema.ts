import { defineEntity, p } from '@mikro-orm/core';
import type { ContextSchema } from '../database/index.js';

export const StoredSecret = defineEntity({
  name: 'StoredSecret',
  tableName: 'secrets',
  properties: {
    organizationId: p.uuid().primary(),
    recordId: p.uuid().primary(),
    field: p.text().primary(),
    ciphertext: p.blob().$type<Buffer>(),
    nonce: p.blob().$type<Buffer>(),
    wrappedKey: p.blob().$type<Buffer>(),
    keyId: p.text(),
    /** When the secret was set; a rotation does not change it. */
    updatedAt: p.datetime(6),
  },
});

export const vaultSchema: ContextSchema = {
  entities: [StoredSecret],
  base: [
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
  ],
};
