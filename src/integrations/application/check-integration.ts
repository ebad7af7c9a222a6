import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus, TransactionEvents } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { AuthorizationNeeded, IntegrationChecked } from '../domain/integrations.events.js';
import type { Integration } from '../domain/integration.js';
import type { IntegrationOverview, ServerFinding } from '../domain/tool-list.js';
import { CONNECT_MS } from '../limits.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { withinTime } from '../mcp/within-time.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { IntegrationStateRepository } from '../persistence/integration-state.repository.js';
import { RefusedSchemas } from './refused-schemas.js';
import { type ConnectionPurpose, ServerConnections } from './server-connections.js';

type Finding = Pick<ServerFinding, 'status' | 'error' | 'tools'>;

/** Lists the tools of an integration's server and stores the result. */
@Injectable()
export class CheckIntegration {
  constructor(
    private readonly connections: ServerConnections,
    private readonly integrations: IntegrationRepository,
    private readonly states: IntegrationStateRepository,
    private readonly refusedSchemas: RefusedSchemas,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
    private readonly transactionEvents: TransactionEvents,
    private readonly logger: Logger,
  ) {}

  /** Takes at most `CONNECT_MS`. If the server fails, the stored list stays and the state has an `error`. */
  async execute(integration: Integration, purpose: ConnectionPurpose = 'new_connection'): Promise<IntegrationOverview> {
    const { organizationId, id, revision } = integration;
    const finding = await this.listTools(integration, purpose);
    const overview = await this.save(integration, { revision, ...finding, checkedAt: this.clock.now() });
    if (finding.status === 'connected') this.refusedSchemas.forget(integration);
    const agentIds = await this.integrations.agentIdsOf(this.database, organizationId, id);
    this.events.publish(new IntegrationChecked(organizationId, id, agentIds));
    return overview;
  }

  /** As `execute`, but never throws: the integration is stored, and an error response would suggest that it is not. @returns null on failure */
  async executeAfterWrite(integration: Integration): Promise<IntegrationOverview | null> {
    try {
      return await this.execute(integration);
    } catch (error) {
      this.logger.error({ integrationId: integration.id, err: error }, 'The check of a tool integration failed');
      return null;
    }
  }

  private async save(integration: Integration, finding: ServerFinding): Promise<IntegrationOverview> {
    if (finding.status !== 'needs_authorization') return (await this.states.save(integration, finding)).overview;
    return this.database.transaction(async (transaction) => {
      const { organizationId, id } = integration;
      const before = await this.states.lockStatus(transaction, integration);
      const { overview, isStored } = await this.states.save(integration, finding, transaction);
      if (isStored && before !== 'needs_authorization') {
        const agentIds = await this.integrations.agentIdsOf(transaction, organizationId, id);
        const event = new AuthorizationNeeded(organizationId, id, agentIds, finding.checkedAt);
        await this.transactionEvents.publish(transaction, event);
      }
      return overview;
    });
  }

  private async listTools(integration: Integration, purpose: ConnectionPurpose): Promise<Finding> {
    const bound = { clock: this.clock, ms: CONNECT_MS, signal: new AbortController().signal };
    try {
      const tools = await withinTime(bound, (signal) =>
        this.connections.use(integration, (connection) => connection.listTools(signal), signal, purpose),
      );
      const missing = await this.connections.missingPermissions(integration);
      return missing
        ? { status: 'needs_authorization', error: missing.message, tools }
        : { status: 'connected', error: null, tools };
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error;
      const { reason, detail, message } = error;
      this.logger.info({ integrationId: integration.id, reason, detail }, 'A tool server did not list its tools');
      return { status: reason === 'needs_authorization' ? reason : 'error', error: message, tools: null };
    }
  }
}
