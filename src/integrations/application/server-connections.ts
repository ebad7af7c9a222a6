import { Injectable } from '@nestjs/common';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { IntegrationChanged, ToolsChanged } from '../domain/integrations.events.js';
import type { Integration } from '../domain/integration.js';
import { type ConnectionKey, ConnectionPool } from '../mcp/connection-pool.js';
import { McpConnector, type McpConnection } from '../mcp/mcp-connection.js';
import type { McpFailure } from '../mcp/mcp-failure.js';
import { needsAuthorization } from '../oauth/needs-authorization.js';
import { OAuthGrantChanged } from '../oauth/oauth.events.js';
import { OAuthGrants } from '../oauth/oauth-grants.js';
import { ProtectedServers } from '../oauth/protected-servers.js';
import { ResolveEndpoint } from './resolve-endpoint.js';

/** Pooled connections to the servers of integrations (`ConnectionPool`). */
@Injectable()
export class ServerConnections {
  constructor(
    private readonly pool: ConnectionPool,
    private readonly connector: McpConnector,
    private readonly endpoints: ResolveEndpoint,
    private readonly servers: ProtectedServers,
    private readonly grants: OAuthGrants,
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
  ): Promise<Result> {
    return this.pool.use(
      await this.connectionKey(integration),
      (pooled) => this.open(integration, pooled),
      work,
      signal,
    );
  }

  /** As `use`, for background work (`ConnectionPool.look`). */
  async look<Result>(
    integration: Integration,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.pool.look(
      await this.connectionKey(integration),
      (pooled) => this.open(integration, pooled),
      work,
      signal,
    );
  }

  /** As `use`, over a new connection, regardless of the backoff after earlier failures. */
  async useNew<Result>(
    integration: Integration,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const key = await this.connectionKey(integration);
    // No await between these: another call could open the new connection first.
    this.pool.renew(integration.id);
    return this.pool.use(key, (pooled) => this.open(integration, pooled, true), work, signal);
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

  private async open(integration: Integration, signal: AbortSignal, anew = false): Promise<McpConnection> {
    const endpoint = await this.endpoints.execute(integration);
    const { organizationId, id: integrationId } = integration;
    const onListenFailed = ({ message, detail }: McpFailure): void => {
      this.logger.info(
        { organizationId, integrationId, reason: message, detail },
        'A tool server refused to send notifications of changed tools',
      );
    };
    const onToolsChanged = (): void => this.events.publish(new ToolsChanged(integration));
    return this.connector.connect(endpoint, { signal, onToolsChanged, onListenFailed, anew });
  }

  /** Includes the grant's version, because a session belongs to the person who signed in. */
  private async connectionKey(integration: Integration): Promise<ConnectionKey> {
    const { organizationId, id: integrationId, revision } = integration;
    const server = this.servers.of(integration);
    const grant = server && (await this.grants.versionOf(server));
    return { organizationId, integrationId, version: `${revision}/${grant ?? 'none'}` };
  }
}
