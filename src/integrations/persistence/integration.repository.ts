import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, jsonb, rowsOf, type SqlExecutor, toDate, type Transaction } from '../../platform/database/index.js';
import { identityOf, type Integration, isOrganizationWide } from '../domain/integration.js';
import type { KeptNames, NamesOfAgent } from '../domain/tool-name.js';
import {
  EXCLUDED_TOOLS,
  SETTINGS,
  StoredAttachment,
  StoredIntegration,
  tables,
  TOOL_NAMES,
} from './integrations.schema.js';

const COLUMNS = [
  ...(['tool_integrations.id', 'tool_integrations.organization_id', 'tool_integrations.settings'] as const),
  ...(['tool_integrations.excluded_tools', 'tool_integrations.revision'] as const),
  ...(['tool_integrations.created_at', 'tool_integrations.updated_at'] as const),
] as const;

export interface IntegrationRow {
  readonly id: string;
  readonly organization_id: string;
  readonly settings: unknown;
  readonly excluded_tools: unknown;
  readonly revision: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/**
 * Integrations and the agents that use them; an agent that is gone uses none.
 *
 * Writers lock in this order: the agent (`lockAgent`), the integration (`insertOrLock`, `lock`), then what belongs to
 * it. Whoever changes an integration, or which agents use it, holds the integration.
 */
@Injectable()
export class IntegrationRepository {
  constructor(private readonly database: Database) {}

  /** In the order in which they were attached. */
  async listForAgent(organizationId: string, agentId: string): Promise<Integration[]> {
    const query = ofAgent(organizationId, agentId).orderBy('used.attached_at').orderBy('tool_integrations.id');
    return (await rowsOf<IntegrationRow>(this.database, query)).map(toIntegration);
  }

  /** Of the agent's custom-mcp integrations. */
  async customApps(source: SqlExecutor, organizationId: string, agentId: string): Promise<ReadonlySet<string>> {
    const query = ofAgent(organizationId, agentId).where('tool_integrations.type', '=', 'custom-mcp');
    return new Set((await rowsOf<IntegrationRow>(source, query)).map((row) => identityOf(toIntegration(row).settings)));
  }

  /** @returns null when the agent does not use it, whoever else does */
  async findForAgent(organizationId: string, agentId: string, id: string): Promise<Integration | null> {
    const query = ofAgent(organizationId, agentId).where('tool_integrations.id', '=', id);
    const [row] = await rowsOf<IntegrationRow>(this.database, query);
    return row ? toIntegration(row) : null;
  }

  async find(organizationId: string, id: string): Promise<Integration | null> {
    const row = await this.database.read((em) => em.findOne(StoredIntegration, { organizationId, id }));
    return row && entityToIntegration(row);
  }

  /**
   * Keeps the agent there, and other attachments to it out, until the transaction ends.
   * @returns whether there is such an agent
   */
  async lockAgent(transaction: Transaction, organizationId: string, agentId: string): Promise<boolean> {
    const agent = tables.selectFrom('agents').select('id').where('organization_id', '=', organizationId);
    return (await rowsOf(transaction, agent.where('id', '=', agentId).forNoKeyUpdate())).length > 0;
  }

  /** Keeps other writers of the integration out until the transaction ends. */
  async lock({ em }: Transaction, organizationId: string, id: string): Promise<Integration | null> {
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const row = await em.findOne(StoredIntegration, { organizationId, id }, lock);
    return row && entityToIntegration(row);
  }

  /**
   * Stores the integration, or, where there is one of its identity, locks that. Of two at once the later waits for the
   * earlier and finds what that has stored.
   * @param agentId whose it is, where it is not the organization's
   * @returns the one that is stored; its id tells whether it is the new one
   */
  async insertOrLock(transaction: Transaction, integration: Integration, agentId: string): Promise<Integration> {
    const { settings, excludedTools } = integration;
    const query = tables
      .insertInto('tool_integrations')
      .values({
        id: integration.id,
        organization_id: integration.organizationId,
        type: settings.type,
        identity: identityOf(settings),
        agent_id: isOrganizationWide(settings) ? null : agentId,
        settings: jsonb(settings),
        excluded_tools: jsonb(excludedTools),
        revision: integration.revision,
        created_at: integration.createdAt.toISOString(),
        updated_at: integration.updatedAt.toISOString(),
      })
      .onConflict((conflict) =>
        conflict
          .columns(['organization_id', 'type', 'identity', 'agent_id'])
          .doUpdateSet({ revision: (eb) => eb.ref('tool_integrations.revision') }),
      )
      .returning(COLUMNS);
    const [row] = await rowsOf<IntegrationRow>(transaction, query);
    if (!row) throw new Error('An integration was neither stored nor found');
    return toIntegration(row);
  }

  async update({ em }: Transaction, integration: Integration): Promise<void> {
    const { organizationId, id, settings, excludedTools, revision, updatedAt } = integration;
    const change = { settings, excludedTools, revision, updatedAt };
    await em.nativeUpdate(StoredIntegration, { organizationId, id }, change);
  }

  /** With its state and whatever says who uses it; its secrets are the vault's. */
  async remove({ em }: Transaction, organizationId: string, id: string): Promise<void> {
    await em.nativeDelete(StoredIntegration, { organizationId, id });
  }

  /** The agents that use it. */
  async agentsOf(source: SqlExecutor, organizationId: string, integrationId: string): Promise<string[]> {
    const query = tables
      .selectFrom('tool_integration_agents as used')
      .innerJoin('agents', 'agents.id', 'used.agent_id')
      .select('used.agent_id')
      .where('used.organization_id', '=', organizationId)
      .where('used.integration_id', '=', integrationId)
      .orderBy('used.agent_id');
    return (await rowsOf(source, query)).map(({ agent_id: agentId }) => agentId);
  }

  countOfAgent({ em }: Transaction, organizationId: string, agentId: string): Promise<number> {
    return em.count(StoredAttachment, { organizationId, agentId });
  }

  async attach(
    { em }: Transaction,
    { organizationId, id: integrationId }: Integration,
    agentId: string,
    attachedAt: Date,
  ): Promise<void> {
    await em.insert(StoredAttachment, { organizationId, integrationId, agentId, attachedAt, toolNames: [] });
  }

  /** The names of tools that the agent's attachments keep. */
  async toolNames(source: SqlExecutor, organizationId: string, agentId: string): Promise<NamesOfAgent> {
    const query = tables
      .selectFrom('tool_integration_agents')
      .select(['integration_id', 'tool_names'])
      .where('organization_id', '=', organizationId)
      .where('agent_id', '=', agentId);
    return new Map(
      (await rowsOf(source, query)).map((row) => [
        row.integration_id,
        TOOL_NAMES.readNullable(row.tool_names, row.integration_id),
      ]),
    );
  }

  /** Call with the agent locked, or names that another process stores at the same time are lost. */
  async keepToolNames(
    { em }: Transaction,
    organizationId: string,
    agentId: string,
    names: ReadonlyMap<string, KeptNames>,
  ): Promise<void> {
    for (const [integrationId, toolNames] of names) {
      await em.nativeUpdate(StoredAttachment, { organizationId, integrationId, agentId }, { toolNames });
    }
  }

  async detach({ em }: Transaction, organizationId: string, integrationId: string, agentId: string): Promise<void> {
    await em.nativeDelete(StoredAttachment, { organizationId, integrationId, agentId });
  }
}

/** What an agent uses; one that is gone uses nothing. */
function ofAgent(organizationId: string, agentId: string) {
  return tables
    .selectFrom('tool_integration_agents as used')
    .innerJoin('tool_integrations', 'tool_integrations.id', 'used.integration_id')
    .innerJoin('agents', 'agents.id', 'used.agent_id')
    .select(COLUMNS)
    .where('used.organization_id', '=', organizationId)
    .where('used.agent_id', '=', agentId);
}

export function toIntegration(row: IntegrationRow): Integration {
  return {
    id: row.id,
    organizationId: row.organization_id,
    settings: SETTINGS.read(row.settings, row.id),
    excludedTools: EXCLUDED_TOOLS.read(row.excluded_tools, row.id),
    revision: row.revision,
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
  };
}

function entityToIntegration(row: StoredIntegration): Integration {
  const { id, organizationId, settings, excludedTools, revision, createdAt, updatedAt } = row;
  return { id, organizationId, settings, excludedTools, revision, createdAt, updatedAt };
}
