import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, storableJson, toDate, type Transaction } from '../../platform/database/index.js';
import type { Integration } from '../domain/integration.js';
import {
  type IntegrationOverview,
  type IntegrationState,
  type IntegrationStatus,
  type ListedTool,
  type ServerFinding,
  shownDescription,
  type StateHeader,
} from '../domain/tool-list.js';
import { type IntegrationRow, toIntegration } from './integration.repository.js';
import { OVERVIEW, StoredState } from './integrations.schema.js';
import { AGENT_INTEGRATIONS_WITH_STATES, SAVE_STATE } from './integrations.sql.js';

/** An integration that an agent uses, with the state of its server. */
export interface AgentIntegration {
  readonly integration: Integration;
  /** Null until the server has been checked for the first time. */
  readonly state: StateHeader | null;
  readonly attachedAt: string;
}

export interface SavedState {
  /** With the stored tools if the finding has no list. */
  readonly overview: IntegrationOverview;
  readonly isStored: boolean;
}

export type StoredList = IntegrationState & Pick<StateHeader, 'toolsDigest'>;

type OfAgentRow = IntegrationRow & {
  readonly attached_at: string;
  readonly state_revision: number | null;
  readonly status: IntegrationStatus;
  readonly error: string | null;
  readonly tools_digest: string;
  readonly tools_bytes: number;
  readonly tools_count: number;
  readonly checked_at: string;
};

/** The states of servers. Writes need no transaction: each state is complete, and only the newest counts. */
@Injectable()
export class IntegrationStateRepository {
  constructor(private readonly database: Database) {}

  /** Does nothing if the integration was removed or changed, or if a newer state is stored. */
  async save(
    { organizationId, id }: Integration,
    finding: ServerFinding,
    source: SqlExecutor = this.database,
  ): Promise<SavedState> {
    const { revision, status, error, tools, checkedAt } = finding;
    const listed = tools ?? [];
    const overview = overviewOf(listed);
    const facts = {
      isListed: tools !== null,
      toolsDigest: digestOf(listed),
      toolsBytes: JSON.stringify(listed).length,
      overview,
    };
    const parameters = { organizationId, integrationId: id, revision, status, error, tools: listed, checkedAt };
    // `kept`: the overview of the stored tools if the finding has no list; null if it has one.
    const [stored] = await SAVE_STATE.run<{ kept: unknown }>(source, { ...parameters, ...facts });
    const shown = OVERVIEW.readNullable(stored?.kept, id) ?? overview;
    return { overview: { revision, status, error, tools: shown }, isStored: stored !== undefined };
  }

  /** The stored status, which no other transaction that calls this changes before this one has ended; null without one. */
  async lockStatus(transaction: Transaction, { organizationId, id }: Integration): Promise<IntegrationStatus | null> {
    await transaction.lock(`state of integration ${id}`);
    const where = { organizationId, integrationId: id };
    return (await transaction.em.findOne(StoredState, where, { disableIdentityMap: true }))?.status ?? null;
  }

  /**
   * Sets the `error` of an integration that is connected and unchanged (same revision).
   * @param known the error that must still be stored; undefined replaces any
   * @returns whether the error changed
   */
  async saveError(
    { organizationId, id, revision }: Integration,
    known: string | undefined,
    error: string | null,
  ): Promise<boolean> {
    const connected = { integrationId: id, organizationId, revision, status: 'connected' } as const;
    const isDifferent =
      error === null ? { error: { $ne: null } } : { $or: [{ error: null }, { error: { $ne: error } }] };
    const where = { ...connected, $and: [isDifferent, ...(known === undefined ? [] : [{ error: known }])] };
    const changed = await this.database.write((em) => em.nativeUpdate(StoredState, where, { error }));
    return changed > 0;
  }

  async remove({ em }: Transaction, { organizationId, id }: Integration): Promise<void> {
    await em.nativeDelete(StoredState, { organizationId, integrationId: id });
  }

  /** With all tools and their digest. They may be newer than a header that was read before. */
  async find(organizationId: string, integrationId: string): Promise<StoredList | null> {
    const options = { populate: ['tools'], disableIdentityMap: true } as const;
    const row = await this.database.read((em) => em.findOne(StoredState, { organizationId, integrationId }, options));
    if (!row) return null;
    const { revision, status, error, tools, toolsDigest, checkedAt } = row;
    return { revision, status, error, tools, toolsDigest, checkedAt };
  }

  /** The integrations of the agent in the order of attachment, in one statement. */
  async listForAgent(organizationId: string, agentId: string): Promise<AgentIntegration[]> {
    const rows = await AGENT_INTEGRATIONS_WITH_STATES.run<OfAgentRow>(this.database, { organizationId, agentId });
    return rows.map((row) => ({ integration: toIntegration(row), state: headerOf(row), attachedAt: row.attached_at }));
  }

  /** Overviews by the id of the integration. They leave out the schemas, which may be megabytes. */
  async overviews(
    organizationId: string,
    integrationIds: readonly string[],
  ): Promise<Map<string, IntegrationOverview>> {
    if (integrationIds.length === 0) return new Map();
    const where = { organizationId, integrationId: { $in: [...integrationIds] } };
    const states = await this.database.read((em) => em.find(StoredState, where, { disableIdentityMap: true }));
    return new Map(
      states.map(({ integrationId, revision, status, error, overview }) => [
        integrationId,
        { revision, status, error, tools: overview },
      ]),
    );
  }
}

function headerOf(row: OfAgentRow): StateHeader | null {
  if (row.state_revision === null) return null;
  const { status, error, tools_digest: toolsDigest, tools_bytes: toolsBytes, tools_count: toolsCount } = row;
  const checkedAt = toDate(row.checked_at);
  return { revision: row.state_revision, status, error, toolsDigest, toolsBytes, toolsCount, checkedAt };
}

export function digestOf(tools: readonly ListedTool[]): string {
  return createHash('sha256').update(storableJson(tools)).digest('hex');
}

function overviewOf(tools: readonly ListedTool[]): IntegrationOverview['tools'] {
  return tools.map(({ name, description }) => ({ name, description: shownDescription(description) }));
}
