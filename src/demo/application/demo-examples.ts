import { Injectable } from '@nestjs/common';
import { FirstOrganization } from '../../access/index.js';
import { EXAMPLE_IDS } from '../../platform/http/index.js';
import { withIds } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ServiceClient, ServiceRefusal } from './service-client.js';

const KEY = { name: 'Demo examples', capabilities: ['chat', 'manageAgents', 'manageApiKeys'] } as const;
/** Features that the examples use and that an organization lacks by default. */
const FEATURES = [
  'response_components',
  'knowledge_search',
  'ai_gateway',
  'claude_agent_sdk',
  'session_start_hook',
] as const;
const EVERYTHING = { type: 'managed-mcp', app: 'everything', excludedTools: ['get-env'] };
/** Names under `.invalid` do not resolve, so the demo sends no request to the network. */
const SHOP = {
  type: 'custom-mcp',
  app: 'shop',
  url: 'https://tools.shop.invalid/mcp',
  transportType: 'streamableHttp',
  auth: { type: 'none' },
};
const GATEWAY = { enabled: true, edgeAccountId: 'account-1', gatewayName: 'agents', edgeApiToken: 'the-token' };
const WEBHOOK = { url: 'https://shop.invalid/events', events: ['knowledge.sync_finished'] };
const SESSION_START = { app: 'shop', toolName: 'customer', timeoutMs: 1_000 };
const MANUAL = 'Frames have a warranty of ten years, everything else one of two years.';

const agentPath = (id: string): string => `/v1/agents/${id}`;

/** Creates the missing resources that examples of the OpenAPI document refer to, so that the examples work unchanged. */
@Injectable()
export class DemoExamples {
  private key = '';

  constructor(
    private readonly organization: FirstOrganization,
    private readonly service: ServiceClient,
    private readonly logger: Logger,
  ) {}

  /** Does nothing without the first organization. Logs resources that the service refuses to create, and continues. */
  async createAll(): Promise<void> {
    const organizationId = await this.organization.id();
    if (organizationId === null) return;
    await this.organization.enable(organizationId, FEATURES);
    this.key = await this.organization.newKey(organizationId, KEY);
    await this.createAgent();
    await this.createConversation();
    await this.createRest();
    await this.createAgentsWithHooks();
    this.logger.info({}, 'The examples of the documentation work here');
  }

  private async createAgent(): Promise<void> {
    const { agent, section, deletedSection, integration } = EXAMPLE_IDS;
    const path = agentPath(agent);
    await this.ensureAgent(agent, { name: 'Example agent', provider: { type: 'anthropic' } });
    await this.ensure(`${path}/sections`, section, { name: 'Tone', content: 'Be friendly and brief.' });
    const hours = { name: 'Opening hours', content: 'Monday to Friday, 9 to 18.' };
    await this.ensure(`${path}/sections`, deletedSection, hours);
    await this.ensure(`${path}/tool-integrations`, integration, EVERYTHING);
  }

  private async createConversation(): Promise<void> {
    const { agent, thread, deletedThread, run, message } = EXAMPLE_IDS;
    for (const id of [thread, deletedThread]) await this.ensure('/v1/threads', id, { assistant_id: agent });
    const request = { message: { role: 'user', content: 'Hello!' }, config: { userContext: { userId: 'user-42' } } };
    // Null: the service makes the id of the user's message before that of the run.
    await this.attempt(async () => {
      const path = `/v1/threads/${thread}`;
      if ((await this.ask('GET', `${path}/messages`)).includes(run)) return;
      await withIds([null, run, message], () => this.ask('POST', `${path}/runs`, request));
    });
  }

  private async createRest(): Promise<void> {
    const { agent, apiKey, knowledgeFile, webhook, deletedWebhook } = EXAMPLE_IDS;
    await this.ensure('/v1/api-keys', apiKey, { name: 'Example key', capabilities: ['chat'] });
    for (const id of [webhook, deletedWebhook]) await this.ensure('/v1/webhooks', id, WEBHOOK);
    await this.attempt(() => this.ask('PUT', '/v1/ai-gateway', GATEWAY));
    const knowledge = `${agentPath(agent)}/knowledge-bases`;
    // Without a site: the demo sends no request to the network.
    await this.attempt(() => this.ask('PUT', `${knowledge}/website`, { configs: [] }));
    await this.attempt(async () => {
      const files = `${knowledge}/uploaded-files`;
      if ((await this.ask('GET', files)).includes(knowledgeFile)) return;
      const form = new FormData();
      form.append('file', new File([MANUAL], 'warranty.txt', { type: 'text/plain' }));
      // Null: the service makes the id of the temporary file before that of the knowledge file.
      await withIds([null, knowledgeFile], () => this.ask('POST', files, form));
    });
  }

  private async createAgentsWithHooks(): Promise<void> {
    const { hookedAgent, spareAgent, deletedAgent, deletedIntegration } = EXAMPLE_IDS;
    const ownKey = { type: 'anthropic', useOwnApiKey: true, apiKey: 'the-key' };
    await this.ensureAgent(deletedAgent, { name: 'Example agent to delete', provider: { type: 'anthropic' } });
    await this.ensureAgent(hookedAgent, { name: 'Example agent with a hook', provider: ownKey });
    await this.ensureAgent(spareAgent, { name: 'Example agent to change', provider: { type: 'anthropic' } });
    await this.ensure(`${agentPath(spareAgent)}/tool-integrations`, deletedIntegration, EVERYTHING);
    for (const id of [hookedAgent, spareAgent]) {
      await this.ensure(`${agentPath(id)}/tool-integrations`, null, SHOP, { marker: '"shop"' });
      await this.attempt(() => this.ask('PUT', `${agentPath(id)}/session-start-hook`, SESSION_START));
    }
  }

  private ensureAgent(id: string, body: object): Promise<void> {
    return this.ensure('/v1/agents', id, body, { list: `/v1/agents?ids=${id}` });
  }

  /**
   * @param id of the resource that the request creates; null for any
   * @param options `list`: the path of the list, by default `path`; `marker`: text that the list contains if the resource exists
   */
  private ensure(
    path: string,
    id: string | null,
    body: object,
    { list = path, marker = id ?? '' }: { readonly list?: string; readonly marker?: string } = {},
  ): Promise<void> {
    return this.attempt(async () => {
      if ((await this.ask('GET', list)).includes(marker)) return;
      await withIds([id], () => this.ask('POST', path, body));
    });
  }

  private async ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<string> {
    return JSON.stringify(await this.service.ask<object>(this.key, method, path, body));
  }

  private async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ServiceRefusal)) throw error;
      this.logger.warn({ err: error }, 'An example of the documentation does not work here');
    }
  }
}
