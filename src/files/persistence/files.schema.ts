import { defineEntity, p } from '@mikro-orm/core';
import type { ContextSchema } from '../../platform/database/index.js';

export const StoredFile = defineEntity({
  name: 'StoredFile',
  tableName: 'files',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    name: p.text(),
    contentType: p.text(),
    size: p.bigint('number'),
    status: p.text().$type<'pending' | 'stored' | 'removing'>(),
    createdAt: p.datetime(3),
    usedAt: p.datetime(3),
  },
});

/** A row exists while its content does: it is `pending` while the content is being stored, and `removing` while it is being removed. */
const base = [
  `create table files (
    id uuid primary key,
    organization_id uuid not null references organizations (id),
    name text not null,
    content_type text not null,
    size bigint not null,
    status text not null check (status in ('pending', 'stored', 'removing')),
    created_at timestamptz(3) not null,
    used_at timestamptz(3) not null
  )`,
  'create index files_by_use on files (used_at)',
];

export const filesSchema: ContextSchema = { entities: [StoredFile], base };
