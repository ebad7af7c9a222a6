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
import { ProtectedServers } from './protected-servers.js';
import { ResolveEndpoint } from './resolve-endpoint.js';

/** Connections to the servers of integrations, kept for the next call; see `ConnectionPool`. */
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
    return this.pool.use(await this.keyOf(integration), (pooled) => this.open(integration, pooled), work, signal);
  }

  /** As `use`, for what no call needs; see `ConnectionPool`. */
  async look<Result>(
    integration: Integration,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.pool.look(await this.keyOf(integration), (pooled) => this.open(integration, pooled), work, signal);
  }

  /** As `use`, over a connection that is made now, whatever became of earlier attempts. */
  async anew<Result>(
    integration: Integration,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const key = await this.keyOf(integration);
    // In one go: another one who came in between would open a connection that is not made for this.
    this.pool.renew(integration.id);
    return this.pool.use(key, (pooled) => this.open(integration, pooled, true), work, signal);
  }

  /** What calls were refused with since the sign-in, where that gave too few permissions; listing may work without them. */
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
        'A tool server will not tell of changes of its tools',
      );
    };
    const onToolsChanged = (): void => this.events.publish(new ToolsChanged(integration));
    return this.connector.connect(endpoint, { signal, onToolsChanged, onListenFailed, anew });
  }

  /** Of the grant too: a session belongs to whoever signed in. */
  private async keyOf(integration: Integration): Promise<ConnectionKey> {
    const { organizationId, id: integrationId, revision } = integration;
    const server = this.servers.of(integration);
    const grant = server && (await this.grants.versionOf(server));
    return { organizationId, integrationId, version: `${revision}/${grant ?? 'none'}` };
  }
}
