import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { type ContextSchema, JsonDocument } from '../../platform/database/index.js';
import { integrationSettings, type IntegrationType } from '../domain/integration.js';
import { keptNames } from '../domain/tool-name.js';
import { type IntegrationStatus, listedTool } from '../domain/tool-list.js';
import { oauthTables, StoredOAuthGrant, StoredOAuthSignIn } from './oauth.schema.js';

export const SETTINGS = new JsonDocument('tool_integrations.settings', integrationSettings);
export const EXCLUDED_TOOLS = new JsonDocument('tool_integrations.excluded_tools', z.array(z.string()));
export const OVERVIEW = new JsonDocument(
  'tool_integration_states.overview',
  z.array(listedTool.pick({ name: true, description: true })),
);
export const TOOL_NAMES = new JsonDocument('tool_integration_agents.tool_names', keptNames);

export const StoredIntegration = defineEntity({
  name: 'StoredIntegration',
  tableName: 'tool_integrations',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    type: p.text().$type<IntegrationType>(),
    identity: p.text(),
    /** The agent that it belongs to; null if it belongs to the organization. */
    agentId: p.uuid().strictNullable(),
    settings: SETTINGS.property(),
    excludedTools: EXCLUDED_TOOLS.property(),
    revision: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});
export type StoredIntegration = InferEntity<typeof StoredIntegration>;

/** An agent that uses an integration. */
export const StoredAttachment = defineEntity({
  name: 'StoredToolIntegrationAgent',
  tableName: 'tool_integration_agents',
  properties: {
    agentId: p.uuid().primary(),
    integrationId: p.uuid().primary(),
    organizationId: p.uuid(),
    attachedAt: p.datetime(3),
    /** Null if an earlier release made the attachment. */
    toolNames: TOOL_NAMES.property().strictNullable(),
  },
});

export const StoredState = defineEntity({
  name: 'StoredToolIntegrationState',
  tableName: 'tool_integration_states',
  properties: {
    integrationId: p.uuid().primary(),
    organizationId: p.uuid(),
    revision: p.integer(),
    status: p.text().$type<IntegrationStatus>(),
    error: p.text().strictNullable(),
    tools: new JsonDocument('tool_integration_states.tools', z.array(listedTool)).property().lazy(),
    toolsDigest: p.text(),
    /** The length of `tools` as JSON. */
    toolsBytes: p.integer(),
    /** The names and shortened descriptions of `tools`, which responses show without reading the schemas. */
    overview: OVERVIEW.property(),
    checkedAt: p.datetime(3),
  },
});

/**
 * An organization has one record per type and identity, or one per agent for integrations that belong to an agent (nulls are not
 * distinct).
 *
 * No foreign key leads to the agent, because a cascade would not remove the secrets of its integrations.
 */
const base = [
  `create table tool_integrations (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    type text not null,
    identity text not null,
    agent_id uuid,
    settings jsonb not null,
    excluded_tools jsonb not null,
    revision integer not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    unique nulls not distinct (organization_id, type, identity, agent_id)
  )`,
  // `tool_names` are the names under which models see the tools, stored so that a name never refers to another tool of the agent later.
  `create table tool_integration_agents (
    agent_id uuid not null,
    integration_id uuid not null references tool_integrations (id) on delete cascade,
    organization_id uuid not null,
    attached_at timestamptz(3) not null,
    tool_names jsonb,
    primary key (agent_id, integration_id)
  )`,
  'create index tool_integration_agents_by_integration on tool_integration_agents (integration_id)',
  `create table tool_integration_states (
    integration_id uuid primary key references tool_integrations (id) on delete cascade,
    organization_id uuid not null,
    revision integer not null,
    status text not null,
    error text,
    tools jsonb not null,
    tools_digest text not null,
    tools_bytes integer not null,
    overview jsonb not null,
    checked_at timestamptz(3) not null
  )`,
];

export const integrationsTables: ContextSchema = {
  entities: [StoredIntegration, StoredAttachment, StoredState, StoredOAuthGrant, StoredOAuthSignIn],
  base: [...base, ...oauthTables],
};
