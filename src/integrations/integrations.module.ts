import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { Clock } from '../platform/clock/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { ChildProcesses } from '../platform/processes/index.js';
import { AgentTools } from './application/agent-tools.js';
import { AppTools } from './application/app-tools.js';
import { CallTool } from './application/call-tool.js';
import { ChangeIntegration } from './application/change-integration.js';
import { CheckIntegration } from './application/check-integration.js';
import { CheckWhenServerChanges } from './application/check-when-server-changes.js';
import { CreateIntegration } from './application/create-integration.js';
import { EndServersOfRemovedIntegrations } from './application/end-servers-of-removed-integrations.js';
import { HiddenTools } from './application/hidden-tools.js';
import { IntegrationSecrets } from './application/integration-secrets.js';
import { RefreshToolLists } from './application/refresh-tool-lists.js';
import { OfferIntegrationTools } from './application/offer-integration-tools.tool-source.js';
import { ReadIntegrations } from './application/read-integrations.js';
import { RefusedSchemas } from './application/refused-schemas.js';
import { RemoveIntegration } from './application/remove-integration.js';
import { RemoveIntegrationsOfDeletedAgents } from './application/remove-integrations-of-deleted-agents.js';
import { RequireChangeable } from './application/require-changeable.js';
import { ResolveEndpoint } from './application/resolve-endpoint.js';
import { ServerConnections } from './application/server-connections.js';
import { TestIntegration } from './application/test-integration.js';
import { AppCatalogue } from './catalogue/app-catalogue.js';
import { AppsController } from './http/apps.controller.js';
import { OAuthController } from './http/oauth.controller.js';
import { ToolIntegrationsController } from './http/tool-integrations.controller.js';
import { RemoveExpiredSignIns, removeExpiredSignIns } from './jobs/remove-expired-sign-ins.job.js';
import { LocalServers } from './local/local-servers.js';
import { ProcessMcpConnector } from './local/process-mcp-connector.js';
import { ConnectionPool } from './mcp/connection-pool.js';
import { HttpMcpConnector } from './mcp/http-mcp-connector.js';
import { ClientIdentity } from './oauth/client-identity.js';
import { CompleteSignIn } from './oauth/complete-sign-in.js';
import { DiscoverAuthorization } from './oauth/discover-authorization.js';
import { IntegrationGrants } from './oauth/integration-grants.js';
import { OAuthHttp } from './oauth/oauth-http.js';
import { OpenSignIns } from './oauth/open-sign-ins.js';
import { ProtectedServers } from './oauth/protected-servers.js';
import { RegisterClient } from './oauth/register-client.js';
import { StartSignIn } from './oauth/start-sign-in.js';
import { IntegrationStateRepository } from './persistence/integration-state.repository.js';
import { IntegrationRepository } from './persistence/integration.repository.js';

const records = [
  ...[IntegrationRepository, IntegrationStateRepository, IntegrationSecrets, AppCatalogue],
  ...[CreateIntegration, ChangeIntegration, RemoveIntegration, ReadIntegrations, TestIntegration],
  ...[RequireChangeable, RemoveIntegrationsOfDeletedAgents],
];

const servers = [
  ...[HttpMcpConnector, ChildProcesses, LocalServers, ProcessMcpConnector],
  ...[ResolveEndpoint, ServerConnections, EndServersOfRemovedIntegrations],
  { provide: ConnectionPool, useFactory: (clock: Clock) => new ConnectionPool(clock), inject: [Clock] },
];

const tools = [
  ...[CheckIntegration, RefreshToolLists, CheckWhenServerChanges, RefusedSchemas],
  ...[AgentTools, AppTools, CallTool, HiddenTools, OfferIntegrationTools],
];

const signIns = [
  ...[ProtectedServers, OAuthHttp, ClientIdentity, DiscoverAuthorization, RegisterClient],
  ...[StartSignIn, CompleteSignIn, OpenSignIns, IntegrationGrants, RemoveExpiredSignIns],
];

/** The tool servers that agents may use: their records, connections, tools and sign-ins. */
@Module({
  imports: [AccessModule, AgentsModule, JobsModule.define(removeExpiredSignIns)],
  controllers: [AppsController, ToolIntegrationsController, OAuthController],
  providers: [...records, ...servers, ...tools, ...signIns],
  exports: [AppTools, HiddenTools, OfferIntegrationTools],
})
export class IntegrationsModule {}
