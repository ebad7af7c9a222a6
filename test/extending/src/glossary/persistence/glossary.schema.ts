import { defineEntity, p } from '@mikro-orm/core';
import { type ContextSchema, migration } from '../../../../../src/platform/database/index.js';

export const StoredTerm = defineEntity({
  name: 'StoredTerm',
  tableName: 'glossary_terms',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    name: p.text(),
    definition: p.text(),
    summary: p.text().nullable(),
  },
});

const init = migration('2027010100_glossary_init', [
  `create table glossary_terms (
    id uuid primary key,
    organization_id uuid not null references organizations (id),
    name text not null,
    definition text not null,
    summary text,
    unique (organization_id, name)
  )`,
]);

export const glossarySchema: ContextSchema = { entities: [StoredTerm], migrations: [init] };
