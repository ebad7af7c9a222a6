import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import {
  Database,
  type EntityReader,
  type SqlExecutor,
  toDate,
  type Transaction,
} from '../../platform/database/index.js';
import { identityOf, type Integration, type IntegrationType, isOrganizationWide } from '../domain/integration.js';
import type { KeptNames, NamesOfAgent } from '../domain/tool-name.js';
import { EXCLUDED_TOOLS, SETTINGS, StoredAttachment, StoredIntegration } from './integrations.schema.js';
import {
  AGENT_INTEGRATIONS,
  AGENTS_OF_INTEGRATION,
  INSERT_OR_LOCK,
  INTEGRATIONS_OF_DELETED_AGENT,
} from './integrations.sql.js';

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
 * Integrations and the agents that use them. A deleted agent uses none.
 *
 * Writers lock in this order: the agent (`lockAgent`), the integration (`insertOrLock`, `lock`), then what belongs to it. A change of
 * an integration, or of the agents that use it, needs the lock on the integration.
 */
@Injectable()
export class IntegrationRepository {
  constructor(private readonly database: Database) {}

  /** In the order of attachment. */
  listForAgent(organizationId: string, agentId: string): Promise<Integration[]> {
    return this.selectForAgent(this.database, { organizationId, agentId, id: null, type: null });
  }

  /** The `app` of each custom-mcp integration of the agent. */
  async customApps(source: SqlExecutor, organizationId: string, agentId: string): Promise<ReadonlySet<string>> {
    const selection = { organizationId, agentId, id: null, type: 'custom-mcp' } as const;
    const integrations = await this.selectForAgent(source, selection);
    return new Set(integrations.map(({ settings }) => identityOf(settings)));
  }

  /** @returns null if this agent does not use it */
  async findForAgent(organizationId: string, agentId: string, id: string): Promise<Integration | null> {
    const [integration] = await this.selectForAgent(this.database, { organizationId, agentId, id, type: null });
    return integration ?? null;
  }

  async find(organizationId: string, id: string): Promise<Integration | null> {
    const row = await this.database.read((em) => em.findOne(StoredIntegration, { organizationId, id }));
    return row && entityToIntegration(row);
  }

  /** Locks out other writers of the integration until the transaction ends. */
  async lock({ em }: Transaction, organizationId: string, id: string): Promise<Integration | null> {
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const row = await em.findOne(StoredIntegration, { organizationId, id }, lock);
    return row && entityToIntegration(row);
  }

  /**
   * Stores the integration or, if one of its identity exists, locks that one. Of two concurrent calls the second waits for the first and
   * returns what that has stored.
   * @param agentId its agent, unless it is the organization's
   * @returns the stored integration, with another id if it existed
   */
  async insertOrLock(transaction: Transaction, integration: Integration, agentId: string): Promise<Integration> {
    const { settings, id, organizationId, excludedTools, revision, createdAt, updatedAt } = integration;
    const [row] = await INSERT_OR_LOCK.run<IntegrationRow>(transaction, {
      ...{ id, organizationId, type: settings.type, identity: identityOf(settings), settings, excludedTools, revision },
      ...{ createdAt, updatedAt, agentId: isOrganizationWide(settings) ? null : agentId },
    });
    if (!row) throw new Error('An integration was neither stored nor found');
    return toIntegration(row);
  }

  async update({ em }: Transaction, integration: Integration): Promise<void> {
    const { organizationId, id, settings, excludedTools, revision, updatedAt } = integration;
    const change = { settings, excludedTools, revision, updatedAt };
    await em.nativeUpdate(StoredIntegration, { organizationId, id }, change);
  }

  /** Removes its state and attachments too. Its secrets are in the vault. */
  async remove({ em }: Transaction, organizationId: string, id: string): Promise<void> {
    await em.nativeDelete(StoredIntegration, { organizationId, id });
  }

  async agentIdsOf(source: SqlExecutor, organizationId: string, integrationId: string): Promise<string[]> {
    const rows = await AGENTS_OF_INTEGRATION.run<{ agent_id: string }>(source, { organizationId, integrationId });
    return rows.map(({ agent_id: agentId }) => agentId);
  }

  countForAgent({ em }: Transaction, organizationId: string, agentId: string): Promise<number> {
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

  async toolNames(source: EntityReader, organizationId: string, agentId: string): Promise<NamesOfAgent> {
    const attachments = await source.read((em) =>
      em.find(StoredAttachment, { organizationId, agentId }, { disableIdentityMap: true }),
    );
    return new Map(attachments.map(({ integrationId, toolNames }) => [integrationId, toolNames]));
  }

  /** Call with the agent locked, or names that another process stores at the same time are lost. */
  async saveToolNames(
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

  /** The ids of a deleted agent's integrations; empty while the agent exists. */
  async idsOfDeletedAgent({ organizationId, agentId }: DeletedAgent): Promise<string[]> {
    const parameters = { organizationId, agentId };
    const rows = await INTEGRATIONS_OF_DELETED_AGENT.run<{ integration_id: string }>(this.database, parameters);
    return rows.map((row) => row.integration_id);
  }

  /** Those of the ids, of any organization, for which no integration exists. */
  async findRemoved(ids: readonly string[]): Promise<string[]> {
    const existing = await this.database.read((em) =>
      em.find(StoredIntegration, { id: { $in: [...ids] } }, { fields: ['id'], disableIdentityMap: true }),
    );
    const existingIds = new Set(existing.map(({ id }) => id));
    return ids.filter((id) => !existingIds.has(id));
  }

  /** @param selection an `id` or `type` that is not null limits the result */
  private async selectForAgent(
    source: SqlExecutor,
    selection: { organizationId: string; agentId: string; id: string | null; type: IntegrationType | null },
  ): Promise<Integration[]> {
    return (await AGENT_INTEGRATIONS.run<IntegrationRow>(source, selection)).map(toIntegration);
  }
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
