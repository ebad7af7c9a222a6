import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream } from '../../support/fake-upstream.js';
import { message, startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { AGENT_WIRES, anthropicWire, geminiWire, openaiWire, type ProviderWire } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';

const TOKEN_HEADER = 'x-gateway-token';
const GATEWAY = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 'canary-organization' };
const OWN = { enabled: true, edgeAccountId: 'acc/2', gatewayName: 'own', edgeApiToken: 'canary-agent' };

const ROUTED = [
  { wire: anthropicWire, path: 'anthropic/v1/messages', managedKey: 'managed-anthropic-key' },
  { wire: openaiWire, path: 'openai/responses', managedKey: 'managed-openai-key' },
];

let gateway: FakeUpstream;
let service: TestService;
let organization: TestOrganization;

beforeAll(async () => {
  gateway = await FakeUpstream.start();
  const environment = { GATEWAY_BASE_URL: `${gateway.url}/base/`, GATEWAY_TOKEN_HEADER: TOKEN_HEADER };
  service = await startService({ environment });
});

afterAll(async () => {
  await service.close();
  await gateway.close();
});

beforeEach(async () => {
  gateway.requests.length = 0;
  service.models.reset();
  service.models.always(says('direct'));
  organization = await service.organization('--plan', 'enterprise');
});

function answerAs(wire: ProviderWire): void {
  gateway.respond((exchange) => exchange.sendAll(wire.text(['through ', 'the gateway'])));
}

async function setGateway(body: object = GATEWAY): Promise<void> {
  const { status, text } = await service.http('PUT', '/v1/ai-gateway', { key: organization.key, body });
  if (status !== 200) throw new Error(text);
}

async function patchGateway(agentId: string, aiGateway: unknown): Promise<void> {
  const path = `/v1/agents/${agentId}`;
  const { status, text } = await service.http('PATCH', path, { key: organization.key, body: { aiGateway } });
  if (status !== 200) throw new Error(text);
}

function agentOn({ provider, model }: ProviderWire, more: object = {}): Promise<string> {
  return service.agent(organization.key, { provider: { type: provider, model, ...more } });
}

/** Sends one message to the agent, on a new thread. */
async function reply(agentId: string): Promise<unknown> {
  const thread = await service.thread(organization.key, agentId);
  const path = `/v1/threads/${thread}/runs`;
  const { body, status, text } = await service.http<{ message: { content: string } }>('POST', path, {
    key: organization.key,
    body: message('Hi'),
  });
  if (status !== 200) throw new Error(text);
  return body.message.content;
}

describe.each(ROUTED)('$wire.provider traffic', ({ wire, path, managedKey }) => {
  beforeEach(() => {
    answerAs(wire);
  });

  it('goes through the organization’s gateway with its token and the managed key, streamed or not', async () => {
    await setGateway();
    const agent = await agentOn(wire);
    expect(await reply(agent)).toBe('through the gateway');
    const thread = await service.thread(organization.key, agent);
    const streamed: string[] = [];
    const run = { key: organization.key, body: message('Hi') };
    for await (const { event } of service.stream(`/v1/threads/${thread}/runs/stream`, run)) {
      if (event.type === 'TEXT_MESSAGE_CONTENT') streamed.push(String(event.delta));
    }
    expect(streamed.join('')).toBe('through the gateway');
    expect(gateway.requests.map((request) => request.path)).toEqual([
      `/base/acc/main/${path}`,
      `/base/acc/main/${path}`,
    ]);
    for (const { headers } of gateway.requests) {
      expect(headers[TOKEN_HEADER]).toBe('Bearer canary-organization');
      expect(wire.keyOf(headers)).toBe(managedKey);
    }
    expect(service.models.requests).toEqual([]);
  });

  it('has the agent’s own key if there is one', async () => {
    await setGateway();
    await reply(await agentOn(wire, { useOwnApiKey: true, apiKey: 'sk-own' }));
    expect(gateway.requests.map(({ headers }) => wire.keyOf(headers))).toEqual(['sk-own']);
  });

  it('follows the setting of the agent: another gateway, none, and the organization’s again', async () => {
    await setGateway();
    const agent = await agentOn(wire);
    await reply(agent);
    await patchGateway(agent, OWN);
    await reply(agent);
    await patchGateway(agent, { ...OWN, gatewayName: 'moved', edgeApiToken: 'canary-moved' });
    await reply(agent);
    await patchGateway(agent, { enabled: false });
    expect(await reply(agent)).toBe('direct');
    await patchGateway(agent, null);
    await reply(agent);
    expect(gateway.requests.map(({ path, headers }) => [path, headers[TOKEN_HEADER]])).toEqual([
      [`/base/acc/main/${path}`, 'Bearer canary-organization'],
      [`/base/acc%2F2/own/${path}`, 'Bearer canary-agent'],
      [`/base/acc%2F2/moved/${path}`, 'Bearer canary-moved'],
      [`/base/acc/main/${path}`, 'Bearer canary-organization'],
    ]);
  });

  it('follows a change and a removal of the gateway at once', async () => {
    const agent = await agentOn(wire);
    expect(await reply(agent)).toBe('direct');
    await setGateway();
    await reply(agent);
    await setGateway({ ...GATEWAY, gatewayName: 'second', edgeApiToken: 'canary-second' });
    await reply(agent);
    await service.http('DELETE', '/v1/ai-gateway', { key: organization.key });
    expect(await reply(agent)).toBe('direct');
    expect(gateway.requests.map(({ path, headers }) => [path, headers[TOKEN_HEADER]])).toEqual([
      [`/base/acc/main/${path}`, 'Bearer canary-organization'],
      [`/base/acc/second/${path}`, 'Bearer canary-second'],
    ]);
  });

  it('goes to the provider without the token while the plan does not include a gateway', async () => {
    await setGateway();
    const agents = [await agentOn(wire), await agentOn(wire)];
    await patchGateway(agents[1] ?? '', OWN);
    await service.cli('org', 'set', organization.id, '--plan', 'free');
    for (const agent of agents) expect(await reply(agent)).toBe('direct');
    expect(gateway.requests).toEqual([]);
    expect(JSON.stringify(service.models.requests.map(({ headers }) => headers))).not.toContain('canary');
  });

  it('that the gateway refuses fails the run without revealing a secret', async () => {
    await setGateway();
    const agent = await agentOn(wire);
    const thread = await service.thread(organization.key, agent);
    gateway.respond((exchange) => exchange.refuse(401, { error: { message: 'bad token canary-organization' } }));
    const run = await service.http('POST', `/v1/threads/${thread}/runs`, {
      key: organization.key,
      body: message('Hi'),
    });
    expect([run.status, run.body.message]).toEqual([502, expect.stringContaining('gateway')]);
    const traces = await service.http('GET', `/v1/agents/${agent}/traces`, { key: organization.key });
    expect(`${run.text}${traces.text}`).not.toContain('canary');
  });

  it('of another organization does not use the gateway', async () => {
    await setGateway();
    organization = await service.organization('--plan', 'enterprise');
    expect(await reply(await agentOn(wire))).toBe('direct');
    expect(gateway.requests).toEqual([]);
  });
});

describe('gemini traffic', () => {
  it('goes to the provider whatever the organization has set', async () => {
    await setGateway();
    expect(await reply(await agentOn(geminiWire))).toBe('direct');
    expect(gateway.requests).toEqual([]);
  });
});

describe.each(AGENT_WIRES)('$provider traffic of an organization without a gateway', (wire) => {
  it('goes to the provider', async () => {
    expect(await reply(await agentOn(wire))).toBe('direct');
    expect(gateway.requests).toEqual([]);
  });
});
