import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { Clock } from '../platform/clock/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { AgentTools } from './application/agent-tools.js';
import { AppTools } from './application/app-tools.js';
import { AuthorizableIntegrations } from './application/authorizable-integrations.js';
import { CallTool } from './application/call-tool.js';
import { ChangeIntegration } from './application/change-integration.js';
import { CheckAfterWrite } from './application/check-after-write.js';
import { ValidateApp } from './application/validate-app.js';
import { CheckIntegration } from './application/check-integration.js';
import { CheckWhenGrantChanges } from './application/check-when-grant-changes.js';
import { CheckWhenServerChanges } from './application/check-when-server-changes.js';
import { CreateIntegration } from './application/create-integration.js';
import { EndServerWhenIntegrationRemoved } from './application/end-server-when-integration-removed.js';
import { HiddenTools } from './application/hidden-tools.js';
import { IntegrationSecrets } from './application/integration-secrets.js';
import { RefreshToolLists } from './application/refresh-tool-lists.js';
import { NameAgentTools } from './application/name-agent-tools.js';
import { OfferIntegrationTools } from './application/offer-integration-tools.tool-source.js';
import { ProtectedServers } from './application/protected-servers.js';
import { ReadIntegrations } from './application/read-integrations.js';
import { RefusedSchemas } from './application/refused-schemas.js';
import { RemoveIntegration } from './application/remove-integration.js';
import { RemoveLeftBehindFolders } from './application/remove-left-behind-folders.js';
import { RemoveLeftBehindIntegrations } from './application/remove-left-behind-integrations.js';
import { RequireChangeable } from './application/require-changeable.js';
import { ResolveEndpoint } from './application/resolve-endpoint.js';
import { ServerConnections } from './application/server-connections.js';
import { TestIntegration } from './application/test-integration.js';
import { CatalogueModule } from './catalogue/catalogue.module.js';
import { AppsController } from './http/apps.controller.js';
import { OAuthCallbackController } from './http/oauth-callback.controller.js';
import { OAuthSignInsController } from './http/oauth-sign-ins.controller.js';
import { ToolIntegrationsController } from './http/tool-integrations.controller.js';
import { removeExpiredSignIns } from './jobs/remove-expired-sign-ins.job.js';
import { LocalServersModule } from './local/local-servers.module.js';
import { ConnectByKind } from './mcp/connect-by-kind.js';
import { ConnectionPool } from './mcp/connection-pool.js';
import { HttpMcpConnector } from './mcp/http-mcp-connector.js';
import { McpConnector } from './mcp/mcp-connection.js';
import { OAuthIntegrations } from './oauth/protected-server.js';
import { oauthProviders } from './oauth.providers.js';
import { IntegrationStateRepository } from './persistence/integration-state.repository.js';
import { IntegrationRepository } from './persistence/integration.repository.js';
import { LeftBehindIntegrations } from './persistence/left-behind-integrations.repository.js';

const records = [
  ...[IntegrationRepository, IntegrationStateRepository, LeftBehindIntegrations, IntegrationSecrets],
  ...[CreateIntegration, ChangeIntegration, RemoveIntegration, ReadIntegrations, TestIntegration],
  ...[ValidateApp, CheckAfterWrite, RequireChangeable, RemoveLeftBehindIntegrations],
];

const servers = [
  ...[HttpMcpConnector, ResolveEndpoint, ServerConnections, EndServerWhenIntegrationRemoved, RemoveLeftBehindFolders],
  { provide: McpConnector, useClass: ConnectByKind },
  { provide: ConnectionPool, useFactory: (clock: Clock) => new ConnectionPool(clock), inject: [Clock] },
];

const tools = [
  ...[CheckIntegration, RefreshToolLists, CheckWhenServerChanges, CheckWhenGrantChanges, RefusedSchemas],
  ...[AgentTools, NameAgentTools, AppTools, CallTool, HiddenTools, OfferIntegrationTools],
];

const signIn = [
  ...oauthProviders,
  ProtectedServers,
  { provide: OAuthIntegrations, useClass: AuthorizableIntegrations },
];

/** The tool servers that agents may use: their records, connections, tools and sign-ins. */
@Module({
  imports: [AccessModule, AgentsModule, CatalogueModule, LocalServersModule, JobsModule.define(removeExpiredSignIns)],
  controllers: [AppsController, ToolIntegrationsController, OAuthSignInsController, OAuthCallbackController],
  providers: [...records, ...servers, ...tools, ...signIn],
  exports: [AppTools, HiddenTools, OfferIntegrationTools],
})
export class IntegrationsModule {}
