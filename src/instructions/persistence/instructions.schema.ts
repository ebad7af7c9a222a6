import { defineEntity, p } from '@mikro-orm/core';
import type { ContextSchema } from '../../platform/database/index.js';

/** `position` only sorts. Responses number the sections by their order. */
export const StoredSection = defineEntity({
  name: 'StoredSection',
  tableName: 'sections',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    name: p.text(),
    content: p.text(),
    position: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

/**
 * Names are not unique, because earlier writers of this table may have stored duplicates; the interface reports them
 * (`existing_duplicate_section_names`). `position` may have ties and gaps: ties are sorted by creation, and the next change of the
 * order stores all positions.
 */
const base = [
  `create table sections (
    id uuid primary key,
    organization_id uuid not null,
    agent_id uuid not null references agents (id) on delete cascade,
    name text not null,
    content text not null,
    position integer not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  )`,
  'create index sections_of_agent on sections (agent_id, position)',
];

export const instructionsSchema: ContextSchema = { entities: [StoredSection], base };
