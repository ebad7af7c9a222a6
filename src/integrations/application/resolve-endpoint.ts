import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { SecretUnreadable } from '../../platform/vault/index.js';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import { catalogueEndpoint } from '../catalogue/catalogue-endpoint.js';
import {
  type CustomMcpSettings,
  environmentField,
  headerField,
  type Integration,
  type ManagedMcpSettings,
  type WorkflowPlatformSettings,
} from '../domain/integration.js';
import { IntegrationChanged } from '../domain/integrations.events.js';
import type { HttpEndpoint, McpEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { IntegrationGrants } from '../oauth/integration-grants.js';
import { ProtectedServers } from '../oauth/protected-servers.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { IntegrationSecrets } from './integration-secrets.js';

const UNREADABLE = 'The secrets of the integration cannot be decrypted. Store them again by changing the integration.';

/** Resolves the address, headers and secrets with which a connection to an integration's server is opened. */
@Injectable()
export class ResolveEndpoint {
  constructor(
    private readonly secrets: IntegrationSecrets,
    private readonly catalogue: AppCatalogue,
    private readonly servers: ProtectedServers,
    private readonly grants: IntegrationGrants,
    private readonly settings: Settings,
    private readonly integrations: IntegrationRepository,
    private readonly database: Database,
    private readonly events: EventBus,
  ) {}

  /** @throws McpFailure if something is missing or the integration has changed */
  async execute(integration: Integration): Promise<McpEndpoint> {
    const endpoint = await this.endpointOf(integration);
    await this.requireUnchanged(integration);
    const server = this.servers.of(integration);
    return endpoint.kind === 'http' && server ? { ...endpoint, tokens: this.grants.tokensFor(server) } : endpoint;
  }

  /**
   * Runs after the secrets were read: secrets of a newer revision must not be sent to the address of an older one. The event makes
   * this process drop the older revision from its caches.
   */
  private async requireUnchanged({ organizationId, id, revision }: Integration): Promise<void> {
    const current = await this.integrations.find(organizationId, id);
    if (current?.revision === revision) return;
    const agentIds = await this.integrations.agentIdsOf(this.database, organizationId, id);
    this.events.publish(new IntegrationChanged(organizationId, id, agentIds));
    throw new McpFailure('refused', 'The integration has just been changed. Try again.');
  }

  private async endpointOf(integration: Integration): Promise<McpEndpoint> {
    const { settings } = integration;
    switch (settings.type) {
      case 'custom-mcp':
        return customEndpoint(settings, await this.secretsOf(integration));
      case 'workflow-platform':
        return this.workflowPlatform(integration, settings);
      case 'managed-mcp':
        return this.managed(integration, settings);
      default:
        return settings satisfies never;
    }
  }

  private workflowPlatform({ organizationId }: Integration, { nameSlug }: WorkflowPlatformSettings): HttpEndpoint {
    const platform = this.settings.workflowPlatform;
    if (!platform) throw new McpFailure('refused', 'The operator has configured no workflow platform.');
    return {
      kind: 'http',
      transport: 'streamableHttp',
      url: platform.url.replaceAll('{nameSlug}', encodeURIComponent(nameSlug)),
      headers: { authorization: `Bearer ${platform.token}`, 'x-organization-id': organizationId },
      chosenBy: 'operator',
      secrets: [platform.token],
    };
  }

  private async managed(integration: Integration, { app: slug, envNames }: ManagedMcpSettings): Promise<McpEndpoint> {
    const app = this.catalogue.find(slug);
    if (!app) throw new McpFailure('refused', `The app ${slug} is no longer in the catalogue.`);
    const secrets = await this.secretsOf(integration);
    const values = present(envNames.map((name) => [name, secrets.get(environmentField(name))]));
    return catalogueEndpoint(app, integration, values, this.settings);
  }

  private async secretsOf(integration: Integration): Promise<ReadonlyMap<string, string>> {
    try {
      return await this.secrets.read(integration);
    } catch (error) {
      if (error instanceof SecretUnreadable)
        throw new McpFailure('refused', UNREADABLE, { detail: error.message, cause: error });
      throw error;
    }
  }
}

function customEndpoint(
  { url, transportType, headers }: CustomMcpSettings,
  secrets: ReadonlyMap<string, string>,
): HttpEndpoint {
  const values = Object.entries(headers).map(
    ([name, header]) => [name, header.type === 'plain_text' ? header.value : secrets.get(headerField(name))] as const,
  );
  return {
    kind: 'http',
    transport: transportType,
    url,
    headers: present(values),
    chosenBy: 'customer',
    secrets: [...secrets.values()],
  };
}

function present(entries: readonly (readonly [string, string | undefined])[]): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
