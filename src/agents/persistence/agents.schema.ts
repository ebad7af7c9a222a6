import { defineEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { type ContextSchema, JsonDocument } from '../../platform/database/index.js';
import { agentSettings } from '../domain/agent-settings.js';
import { changedBy, fieldChange } from '../domain/agent-version.js';
import { Agent } from '../domain/agent.js';

export const CHANGED_BY = new JsonDocument('agent_versions.changed_by', changedBy);
/** Refers to large texts (`LargeTexts`), as the content of a part does. */
export const CHANGES = new JsonDocument('agent_versions.changes', z.array(fieldChange));
/** The schema of a part's content is `VersionedPart.stored`. */
const PART_CONTENT = new JsonDocument('agent_version_parts.content', z.unknown());

export const agentMapping = defineEntity({
  class: Agent,
  tableName: 'agents',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    type: p.text(),
    name: p.text(),
    systemPrompt: p.text(),
    settings: new JsonDocument('agents.settings', agentSettings).property(),
    version: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

/** A large text that versions of an agent refer to. */
export const StoredText = defineEntity({
  name: 'StoredText',
  tableName: 'agent_version_texts',
  properties: { agentId: p.uuid().primary(), digest: p.text().primary(), organizationId: p.uuid(), content: p.text() },
});

/** Names compare by code point (`C`), so that a list has one order on every database. */
export const agentsSchema: ContextSchema = {
  entities: [agentMapping, StoredText],
  documents: [CHANGED_BY, CHANGES, PART_CONTENT],
  base: [
    `create table agents (
      id uuid primary key,
      organization_id uuid not null references organizations (id) on delete cascade,
      type text not null,
      name text collate "C" not null,
      system_prompt text not null,
      settings jsonb not null,
      version integer not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null
    )`,
    'create index agents_by_organization_and_name on agents (organization_id, name, id)',
    `create table agent_versions (
      organization_id uuid not null,
      agent_id uuid not null references agents (id) on delete cascade,
      version integer not null,
      created_at timestamptz(3) not null,
      changed_by jsonb not null,
      changes jsonb not null,
      changes_bytes integer not null,
      primary key (agent_id, version)
    )`,
    // By part, and only for the versions that changed it: a new name must not copy megabytes of sections.
    `create table agent_version_parts (
      organization_id uuid not null,
      agent_id uuid not null,
      version integer not null,
      part text not null,
      content jsonb not null,
      primary key (agent_id, part, version),
      foreign key (agent_id, version) references agent_versions (agent_id, version) on delete cascade
    )`,
    // Deleting a version deletes its parts. Without this index each deletion scans all parts of the agent: thousands of versions
    // would take quadratic time.
    'create index agent_version_parts_by_version on agent_version_parts (agent_id, version)',
    // The texts of the changes and parts that are named there instead of copied into each.
    `create table agent_version_texts (
      organization_id uuid not null,
      agent_id uuid not null references agents (id) on delete cascade,
      digest text not null,
      content text not null,
      primary key (agent_id, digest)
    )`,
  ],
};
