import { Injectable } from '@nestjs/common';
import { FirstOrganization } from '../../access/index.js';
import { PROVIDERS } from '../../models/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { ServiceClient } from './service-client.js';

const NAME = 'Demo guide';
const KEY = { name: 'Demo page', capabilities: ['chat', 'manageAgents'] } as const;
/** A tool server that comes with the service, without the tools that only help to develop such servers. */
const TOOLS = {
  type: 'managed-mcp',
  app: 'everything',
  excludedTools: [
    ...['get-annotated-message', 'get-env', 'get-resource-links', 'get-resource-reference', 'get-structured-content'],
    ...['get-tiny-image', 'gzip-file-as-resource', 'toggle-subscriber-updates', 'simulate-research-query'],
  ],
};

export interface DemoAgent {
  readonly agentId: string;
  /** The key that the demo's server uses. It is kept only in memory. */
  readonly key: string;
}

/** The agent of the demo page, with tools and components, created at the first visit. */
@Injectable()
export class DemoAgents {
  private prepared: Promise<DemoAgent> | undefined;

  constructor(
    private readonly organization: FirstOrganization,
    private readonly service: ServiceClient,
  ) {}

  get(): Promise<DemoAgent> {
    this.prepared ??= this.prepare().catch((error: unknown) => {
      this.prepared = undefined;
      throw error;
    });
    return this.prepared;
  }

  /** Replaces the agent or the key, either of which a user of the demo may have deleted. */
  async replace(deleted: DemoAgent): Promise<DemoAgent> {
    const current = this.prepared;
    // Only the first of several concurrent calls replaces it.
    if ((await current) === deleted && this.prepared === current) this.prepared = undefined;
    return this.get();
  }

  private async prepare(): Promise<DemoAgent> {
    const organizationId = await this.organization.id();
    if (organizationId === null)
      throw new DomainError('unavailable', 'The service is still starting.', { retryAfterSeconds: 1 });
    await this.organization.enable(organizationId, ['response_components']);
    const key = await this.organization.newKey(organizationId, KEY);
    const { assistants } = await this.service.ask<{ assistants: { id: string; name: string }[] }>(
      key,
      'GET',
      `/v1/assistants?name=${encodeURIComponent(NAME)}`,
    );
    const known = assistants.find(({ name }) => name === NAME);
    return { agentId: known?.id ?? (await this.create(key)), key };
  }

  private async create(key: string): Promise<string> {
    const { id } = await this.service.ask<{ id: string }>(key, 'POST', '/v1/agents', {
      name: NAME,
      systemPrompt: 'You are a friendly guide to this service.',
      provider: { type: PROVIDERS[0].type },
      tools: { requireApprovalForResourceChanges: true },
    });
    const components = { choiceButtons: true, card: true, list: true };
    await this.service.ask(key, 'PATCH', `/v1/agents/${id}`, { responseComponents: { frequency: 'high', components } });
    await this.service.ask(key, 'POST', `/v1/agents/${id}/tool-integrations`, TOOLS);
    return id;
  }
}
