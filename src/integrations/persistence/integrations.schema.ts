import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import {
  type ColumnsOf,
  type ContextSchema,
  JsonDocument,
  migration,
  queryBuilder,
} from '../../platform/database/index.js';
import { integrationSettings, type IntegrationType } from '../domain/integration.js';
import { keptNames } from '../domain/tool-name.js';
import { type IntegrationStatus, listedTool } from '../domain/tool-list.js';

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
    /** The one agent that it belongs to; null where it is the organization's. */
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
    /** Null when an earlier release made the attachment. */
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
    tools: new JsonDocument('tool_integration_states.tools', z.array(listedTool)).property(),
    toolsDigest: p.text(),
    /** Of `tools` as JSON. */
    toolsBytes: p.integer(),
    /** What is shown of `tools`, so that reading it costs nothing of the schemas. */
    overview: OVERVIEW.property(),
    checkedAt: p.datetime(3),
  },
});

/** With what an attachment depends on of an agent: that it is there. */
interface IntegrationTables {
  tool_integrations: ColumnsOf<typeof StoredIntegration>;
  tool_integration_agents: ColumnsOf<typeof StoredAttachment>;
  tool_integration_states: ColumnsOf<typeof StoredState>;
  agents: { id: string; organization_id: string };
}

export const tables = queryBuilder<IntegrationTables>();

/**
 * One record of an organization and identity, or, where it belongs to an agent, of that agent: nulls are not distinct.
 *
 * No foreign key leads to the agent: what it leaves behind takes secrets along, which no cascade removes.
 */
const init = migration('2026112210_integrations_init', [
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
  `create table tool_integration_agents (
    agent_id uuid not null,
    integration_id uuid not null references tool_integrations (id) on delete cascade,
    organization_id uuid not null,
    attached_at timestamptz(3) not null,
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
]);

/** The names under which models see the tools, stored so that a name never means another tool of the agent later. */
const toolNames = migration('2026112711_integrations_tool_names', [
  'alter table tool_integration_agents add column tool_names jsonb',
]);

export const integrationsSchema: ContextSchema = {
  entities: [StoredIntegration, StoredAttachment, StoredState],
  migrations: [init, toolNames],
};
