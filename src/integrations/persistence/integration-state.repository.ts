import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, rowsOf, storableJson, toDate, type Transaction } from '../../platform/database/index.js';
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
import { INTEGRATIONS_OF_AGENT, SAVE_STATE } from './integration-state.sql.js';
import { OVERVIEW, StoredState, tables } from './integrations.schema.js';

/** What an agent uses, with what is known of its server. */
export interface IntegrationOfAgent {
  readonly integration: Integration;
  /** Null until the server has been asked for the first time. */
  readonly state: StateHeader | null;
  readonly attachedAt: string;
}

export type StoredList = Pick<IntegrationState, 'tools'> & Pick<StateHeader, 'toolsDigest'>;

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

/** What is shown of the tools that a finding without a list has left as they were; null with a list. */
interface KeptRow {
  readonly kept: unknown;
}

/** What is known of the servers. Nobody needs a transaction for it: each state is whole, and only the newest counts. */
@Injectable()
export class IntegrationStateRepository {
  constructor(private readonly database: Database) {}

  /**
   * Does nothing where the integration is gone or has changed since, and where a newer state is stored.
   * @returns what is shown of it, with the tools that are kept where the finding has none
   */
  async save({ organizationId, id }: Integration, finding: ServerFinding): Promise<IntegrationOverview> {
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
    const [stored] = await SAVE_STATE.run<KeptRow>(this.database, { ...parameters, ...facts });
    return { revision, status, error, tools: OVERVIEW.readNullable(stored?.kept, id) ?? overview };
  }

  /**
   * Sets the `error` of an integration that is connected and unchanged (same revision).
   * @param known the error that must still be stored; undefined replaces any
   * @returns whether the error changed
   */
  async noteError(
    { organizationId, id, revision }: Integration,
    known: string | undefined,
    error: string | null,
  ): Promise<boolean> {
    const query = tables
      .updateTable('tool_integration_states')
      .set({ error })
      .where('integration_id', '=', id)
      .where('organization_id', '=', organizationId)
      .where('revision', '=', revision)
      .where('status', '=', 'connected')
      .where('error', 'is distinct from', error)
      .$if(known !== undefined, (update) => update.where('error', '=', known ?? null))
      .returning('revision');
    return (await rowsOf(this.database, query)).length > 0;
  }

  async remove({ em }: Transaction, { organizationId, id }: Integration): Promise<void> {
    await em.nativeDelete(StoredState, { organizationId, integrationId: id });
  }

  async find(organizationId: string, integrationId: string): Promise<IntegrationState | null> {
    const row = await this.database.read((em) => em.findOne(StoredState, { organizationId, integrationId }));
    if (!row) return null;
    const { revision, status, error, tools, checkedAt } = row;
    return { revision, status, error, tools, checkedAt };
  }

  /** What the agent uses, in the order in which it was attached: one statement, however many. */
  async ofAgent(organizationId: string, agentId: string): Promise<IntegrationOfAgent[]> {
    const rows = await INTEGRATIONS_OF_AGENT.run<OfAgentRow>(this.database, { organizationId, agentId });
    return rows.map((row) => ({ integration: toIntegration(row), state: headerOf(row), attachedAt: row.attached_at }));
  }

  /**
   * Of the last successful listing, with what tells this list from others: it may be a newer one than a header that was
   * read before. Null where the server was never asked, or the integration is gone.
   */
  async list(organizationId: string, integrationId: string): Promise<StoredList | null> {
    const row = await this.database.read((em) => em.findOne(StoredState, { organizationId, integrationId }));
    return row && { tools: row.tools, toolsDigest: row.toolsDigest };
  }

  /** By the id of the integration: what is shown of the states, without the schemas, which may be megabytes. */
  async overviews(
    organizationId: string,
    integrationIds: readonly string[],
  ): Promise<Map<string, IntegrationOverview>> {
    if (integrationIds.length === 0) return new Map();
    const query = tables
      .selectFrom('tool_integration_states')
      .select(['integration_id', 'revision', 'status', 'error', 'overview as tools'])
      .where('organization_id', '=', organizationId)
      .where(sql<boolean>`integration_id = any(${integrationIds}::uuid[])`);
    const rows = await rowsOf(this.database, query);
    return new Map(
      rows.map(({ integration_id: id, tools, ...overview }) => [id, { ...overview, tools: OVERVIEW.read(tools, id) }]),
    );
  }
}

function headerOf(row: OfAgentRow): StateHeader | null {
  if (row.state_revision === null) return null;
  const { status, error, tools_digest: toolsDigest, tools_bytes: toolsBytes, tools_count: toolsCount } = row;
  return {
    revision: row.state_revision,
    status,
    error,
    toolsDigest,
    toolsBytes,
    toolsCount,
    checkedAt: toDate(row.checked_at),
  };
}

/** Tells two lists of tools apart. */
export function digestOf(tools: readonly ListedTool[]): string {
  return createHash('sha256').update(storableJson(tools)).digest('hex');
}

function overviewOf(tools: readonly ListedTool[]): IntegrationOverview['tools'] {
  return tools.map(({ name, description }) => ({ name, description: shownDescription(description) }));
}
