import { Injectable } from '@nestjs/common';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { IntegrationChanged, OAuthGrantChanged, ToolsChanged } from '../domain/integrations.events.js';
import type { Integration } from '../domain/integration.js';
import { ProcessMcpConnector } from '../local/process-mcp-connector.js';
import { ConnectionPool } from '../mcp/connection-pool.js';
import { HttpMcpConnector } from '../mcp/http-mcp-connector.js';
import type { McpConnection } from '../mcp/mcp-connection.js';
import type { McpFailure } from '../mcp/mcp-failure.js';
import type { ConnectionKey } from '../mcp/pooled-connection.js';
import { needsAuthorization } from '../oauth/oauth.errors.js';
import { IntegrationGrants } from '../oauth/integration-grants.js';
import { ProtectedServers } from '../oauth/protected-servers.js';
import { ResolveEndpoint } from './resolve-endpoint.js';

/**
 * `background` work does not keep an idle connection open. `new_connection` ignores the backoff after earlier failures; the former
 * connection stays open for the calls that use it.
 */
export type ConnectionPurpose = 'call' | 'background' | 'new_connection';

/** Pooled connections to the servers of integrations (`ConnectionPool`). */
@Injectable()
export class ServerConnections {
  constructor(
    private readonly pool: ConnectionPool,
    private readonly httpConnector: HttpMcpConnector,
    private readonly processConnector: ProcessMcpConnector,
    private readonly endpoints: ResolveEndpoint,
    private readonly servers: ProtectedServers,
    private readonly grants: IntegrationGrants,
    private readonly events: EventBus,
    private readonly logger: Logger,
  ) {
    events.subscribe(IntegrationChanged, ({ integrationId }) => this.pool.renew(integrationId));
    events.subscribe(OAuthGrantChanged, ({ integrationId }) => this.pool.renew(integrationId));
  }

  /** @throws McpFailure; what `work` throws; the signal's reason */
  async use<Result>(
    integration: Integration,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
    purpose: ConnectionPurpose = 'call',
  ): Promise<Result> {
    const key = await this.connectionKey(integration);
    const isNew = purpose === 'new_connection';
    // No await between this and `use`: another call could open the new connection first.
    if (isNew) this.pool.renew(integration.id);
    const open = (pooled: AbortSignal): Promise<McpConnection> => this.open(integration, pooled, isNew);
    return this.pool.use({ key, open, work, signal, isBackground: purpose === 'background' });
  }

  /** The failure for missing permissions, if calls were refused since the sign-in; listing may work without them. */
  async missingPermissions(integration: Integration): Promise<McpFailure | null> {
    const server = this.servers.of(integration);
    return server && (await this.grants.lacksPermissions(server)) ? needsAuthorization('scope') : null;
  }

  /** Whether the next call would find an open connection. */
  areOpenFor({ id }: Integration): boolean {
    return this.pool.has(id);
  }

  private async open(integration: Integration, signal: AbortSignal, ignoresBackoff: boolean): Promise<McpConnection> {
    const endpoint = await this.endpoints.execute(integration);
    const { organizationId, id: integrationId } = integration;
    const onListenFailed = ({ message, detail }: McpFailure): void => {
      this.logger.info(
        { organizationId, integrationId, reason: message, detail },
        'A tool server refused to send notifications of changed tools',
      );
    };
    const onToolsChanged = (): void => this.events.publish(new ToolsChanged(integration));
    const options = { signal, onToolsChanged, onListenFailed, ignoresBackoff };
    return endpoint.kind === 'http'
      ? this.httpConnector.connect(endpoint, options)
      : this.processConnector.connect(endpoint, options);
  }

  /** Includes the grant's version, because a session belongs to the person who signed in. */
  private async connectionKey(integration: Integration): Promise<ConnectionKey> {
    const { organizationId, id: integrationId, revision } = integration;
    const server = this.servers.of(integration);
    const grant = server && (await this.grants.versionOf(server));
    return { organizationId, integrationId, version: `${revision}/${grant ?? 'none'}` };
  }
}
