import { beforeAll, describe, expect, it } from '@jest/globals';
import { PROVIDER_TYPES } from '../../../src/models/index.js';
import { type TestOrganization, useService } from '../../support/harness.js';
import { type AgentBody, agentRequest as minimal, type ErrorBody, outcome } from './support.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const service = useService();
let organization: TestOrganization;
/** An organization with every feature and the plan with the gateway. */
let enterprise: TestOrganization;

beforeAll(async () => {
  organization = await service.organization('--features', '-claude_agent_sdk');
  enterprise = await service.organization('--plan', 'enterprise', '--features', 'knowledge_search,claude_agent_sdk');
});

function create(body: unknown, { key }: { readonly key: string } = organization) {
  return service.http<AgentBody>('POST', '/v1/agents', { key, body });
}

function refusal(body: unknown, { key }: { readonly key: string } = organization) {
  return service.http<ErrorBody>('POST', '/v1/agents', { key, body });
}

async function countOf({ id }: TestOrganization): Promise<number> {
  const rows = await service.database.query('select 1 from agents where organization_id = $1', [id]);
  return rows.length;
}

describe('a new agent', () => {
  it('is returned as a whole, with every default', async () => {
    const { status, body, headers } = await create(minimal());
    expect(status).toBe(201);
    expect(headers.get('etag')).toBe('"1"');
    expect(body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Ada',
      systemPrompt: '',
      provider: {
        type: 'anthropic',
        model: expect.any(String),
        useOwnApiKey: false,
        thinking: null,
        temperature: null,
        webSearch: false,
      },
      tools: { requireApprovalForResourceChanges: false, requireApprovalBeforeToolCalls: false },
      longTermMemory: { enabled: true },
      toolProgress: { enabled: true },
      responseComponents: {
        frequency: 'off',
        components: { choiceButtons: true, card: true, list: false, table: false, chart: false },
      },
      knowledgeSearch: { maxResults: 5, scoreThreshold: 0.444, semanticWeight: 0.4 },
      aiGateway: null,
      timeoutMinutes: 6,
      runLimits: { maxSteps: null, maxCredits: null },
      version: 1,
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: expect.stringMatching(INSTANT),
    });
  });

  it('stores what was sent', async () => {
    const sent = {
      name: '🙂'.repeat(255),
      systemPrompt: '語'.repeat(200_000),
      provider: { type: 'anthropic', thinking: { type: 'enabled', effort: 'xhigh' }, temperature: 0.5 },
      tools: {
        requireApprovalForResourceChanges: true,
        requireApprovalBeforeToolCalls: true,
        integrations: ['webSearch'],
      },
      longTermMemory: { enabled: false },
      toolProgress: { enabled: false },
      knowledgeSearch: { maxResults: 50, scoreThreshold: 0, semanticWeight: 1 },
      timeoutMinutes: 20,
      runLimits: { maxSteps: 1_000, maxCredits: 0.00001 },
    };
    const { status, body } = await create(sent, enterprise);
    expect(status).toBe(201);
    const { integrations: _, ...tools } = sent.tools;
    expect(body).toMatchObject({ ...sent, tools, provider: { ...sent.provider, webSearch: true } });
    const read = await service.http('GET', `/v1/agents/${body.id}`, { key: enterprise.key });
    expect(read.body).toEqual(body);
  });

  it.each([
    [{ type: 'openai-responses' }, { reasoning: { effort: null }, text: { verbosity: null } }],
    [
      { type: 'openai-responses', reasoning: { effort: 'none' }, text: { verbosity: 'low' } },
      { reasoning: { effort: 'none' }, text: { verbosity: 'low' } },
    ],
    [{ type: 'openai-responses', reasoning: { effort: null }, text: {} }, { reasoning: { effort: null } }],
    [{ type: 'gemini' }, {}],
    [{ type: 'anthropic', thinking: { type: 'enabled' } }, { thinking: { type: 'enabled', effort: 'medium' } }],
    [{ type: 'anthropic', thinking: { type: 'disabled' }, temperature: null }, { thinking: { type: 'disabled' } }],
  ])('runs on its provider with that provider’s settings (%j)', async (provider, settings) => {
    const { status, body } = await create(minimal({ provider }));
    expect(status).toBe(201);
    expect(body.provider).toMatchObject({ type: provider.type, useOwnApiKey: false, ...settings });
  });

  it('ignores responseComponents, whatever their value', async () => {
    for (const responseComponents of [{ frequency: 'high' }, { frequency: 'always', components: 1 }, 'loud', null]) {
      const { status, body } = await create(minimal({ responseComponents }));
      expect([status, body.responseComponents.frequency]).toEqual([201, 'off']);
    }
  });
});

describe('a request that breaks the schema', () => {
  const provider = { type: 'anthropic' };
  const gemini = { type: 'gemini' };
  it.each<[string, unknown]>([
    ['name', { provider }],
    ['name', minimal({ name: '' })],
    ['name', minimal({ name: 'x'.repeat(256) })],
    ['name', minimal({ name: 7 })],
    ['name', minimal({ name: null })],
    ['systemPrompt', minimal({ systemPrompt: 'x'.repeat(200_001) })],
    ['systemPrompt', minimal({ systemPrompt: null })],
    ['provider', { name: 'Ada' }],
    ['provider', minimal({ provider: 'anthropic' })],
    ['provider', minimal({ provider: [] })],
    ['provider', minimal({ provider: [provider] })],
    ['type', minimal({ provider: {} })],
    ['type', minimal({ provider: { type: 'classic' } })],
    ['type', minimal({ provider: { type: '__proto__' } })],
    ['model', minimal({ provider: { type: 'anthropic', model: 'gpt-5' } })],
    ['model', minimal({ provider: { type: 'anthropic', model: null } })],
    ['apiKey', minimal({ provider: { type: 'gemini', useOwnApiKey: true } })],
    ['apiKey', minimal({ provider: { type: 'gemini', useOwnApiKey: true, apiKey: '' } })],
    ['apiKey', minimal({ provider: { type: 'gemini', useOwnApiKey: true, apiKey: 'k'.repeat(501) } })],
    ['apiKey', minimal({ provider: { type: 'gemini', apiKey: 'k' } })],
    ['useOwnApiKey', minimal({ provider: { type: 'gemini', useOwnApiKey: 'true' } })],
    ['thinking', minimal({ provider: { type: 'anthropic', thinking: 'enabled' } })],
    ['thinking', minimal({ provider: { type: 'anthropic', thinking: { type: 'adaptive' } } })],
    ['effort', minimal({ provider: { type: 'anthropic', thinking: { type: 'enabled', effort: 'huge' } } })],
    ['effort', minimal({ provider: { type: 'anthropic', thinking: { type: 'disabled', effort: 'low' } } })],
    ['thinking', minimal({ provider: { type: 'gemini', thinking: { type: 'disabled' } } })],
    ['temperature', minimal({ provider: { type: 'anthropic', temperature: 'hot' } })],
    ['temperature', minimal({ provider: { type: 'openai-responses', temperature: 1 } })],
    ['effort', minimal({ provider: { type: 'openai-responses', reasoning: { effort: 'max' } } })],
    ['verbosity', minimal({ provider: { type: 'openai-responses', text: { verbosity: 'none' } } })],
    ['reasoning', minimal({ provider: { type: 'anthropic', reasoning: { effort: 'low' } } })],
    ['webSearch', minimal({ provider: { type: 'anthropic', webSearch: true } })],
    ['integrations', minimal({ tools: { integrations: ['codeExecution'] } })],
    ['integrations', minimal({ tools: { integrations: 'webSearch' } })],
    ['integrations', minimal({ provider: gemini, tools: { integrations: ['webSearch'] } })],
    ['requireApprovalBeforeToolCalls', minimal({ tools: { requireApprovalBeforeToolCalls: 1 } })],
    ['enabled', minimal({ longTermMemory: {} })],
    ['enabled', minimal({ toolProgress: { enabled: null } })],
    ['longTermMemory', minimal({ longTermMemory: true })],
    ['maxResults', minimal({ knowledgeSearch: { maxResults: 0 } })],
    ['maxResults', minimal({ knowledgeSearch: { maxResults: 51 } })],
    ['maxResults', minimal({ knowledgeSearch: { maxResults: 2.5 } })],
    ['scoreThreshold', minimal({ knowledgeSearch: { scoreThreshold: 1.01 } })],
    ['semanticWeight', minimal({ knowledgeSearch: { semanticWeight: -0.1 } })],
    ['edgeApiToken', minimal({ aiGateway: { enabled: true, edgeAccountId: 'a', gatewayName: 'g' } })],
    ['gatewayName', minimal({ aiGateway: { enabled: true, edgeAccountId: 'a', gatewayName: '', edgeApiToken: 't' } })],
    ['edgeAccountId', minimal({ aiGateway: { enabled: false, edgeAccountId: 'a' } })],
    ['enabled', minimal({ aiGateway: {} })],
    ['timeoutMinutes', minimal({ timeoutMinutes: 0 })],
    ['timeoutMinutes', minimal({ timeoutMinutes: 21 })],
    ['timeoutMinutes', minimal({ timeoutMinutes: 5.5 })],
    ['timeoutMinutes', minimal({ timeoutMinutes: '6' })],
    ['runLimits', minimal({ runLimits: 5 })],
    ['maxSteps', minimal({ runLimits: { maxSteps: 0 } })],
    ['maxSteps', minimal({ runLimits: { maxSteps: 1_001 } })],
    ['maxSteps', minimal({ runLimits: { maxSteps: 1.5 } })],
    ['maxSteps', minimal({ runLimits: { maxSteps: '5' } })],
    ['maxCredits', minimal({ runLimits: { maxCredits: 0 } })],
    ['maxCredits', minimal({ runLimits: { maxCredits: -1 } })],
    ['maxCredits', minimal({ runLimits: { maxCredits: '1' } })],
    ['maxTokens', minimal({ runLimits: { maxTokens: 5 } })],
    ['colour', minimal({ colour: 'blue' })],
    ['colour', minimal({ knowledgeSearch: { colour: 'blue' } })],
  ])('is refused, names the field %s, and stores nothing', async (field, body) => {
    const before = await countOf(enterprise);
    const refused = await refusal(body, enterprise);
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'bad_request',
      message: expect.stringContaining(field),
    });
    expect(await countOf(enterprise)).toBe(before);
  });

  it.each(PROVIDER_TYPES)('lists the models that %s agents may have', async (type) => {
    const refused = await refusal(minimal({ provider: { type, model: 'no-such-model' } }), enterprise);
    const made = await create(minimal({ provider: { type } }), enterprise);
    expect(refused.body.message).toContain(made.body.provider.model);
  });
});

describe('own keys', () => {
  it('are used by runs of the agent, and never returned', async () => {
    const provider = { type: 'openai-responses', useOwnApiKey: true, apiKey: 'sk-canary-own-key' };
    const made = await create(minimal({ provider }));
    expect([made.status, made.body.provider.useOwnApiKey]).toEqual([201, true]);
    const answers = [
      made,
      await service.http('GET', `/v1/agents/${made.body.id}`, { key: organization.key }),
      await service.http('GET', `/v1/agents?ids=${made.body.id}`, { key: organization.key }),
      await service.http('GET', '/v1/assistants', { key: organization.key }),
    ];
    expect(JSON.stringify(answers)).not.toContain('canary');
  });

  it('are required for some models', async () => {
    const provider = { type: 'openai-responses', model: 'gpt-5.5-pro' };
    const refused = await refusal(minimal({ provider }));
    expect([refused.status, refused.body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
    expect(refused.body.message).toContain('useOwnApiKey');
    const own = await create(minimal({ provider: { ...provider, useOwnApiKey: true, apiKey: 'sk-own' } }));
    expect([own.status, own.body.provider.model]).toEqual([201, 'gpt-5.5-pro']);
  });
});

describe('a setting without its feature', () => {
  const gateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 'canary-token' };

  it.each([
    ['claude_agent_sdk_not_permitted', { provider: { type: 'claude-agent-sdk' } }],
    ['knowledge_search_not_permitted', { knowledgeSearch: {} }],
  ])('is refused with the cause %s alone', async (error, extra) => {
    expect(outcome(await refusal(minimal(extra)))).toEqual([400, { error, message: expect.any(String) }]);
  });

  it.each([gateway, { enabled: false }])('the gateway is refused without its plan (%j)', async (aiGateway) => {
    expect(outcome(await refusal(minimal({ aiGateway })))).toEqual([
      403,
      {
        statusCode: 403,
        code: 'forbidden_ai_gateway_not_permitted',
        error: 'forbidden',
        message: expect.any(String),
      },
    ]);
  });

  it('the gateway supports only anthropic and openai-responses agents', async () => {
    const refused = await refusal(minimal({ provider: { type: 'gemini' }, aiGateway: gateway }), enterprise);
    expect(outcome(refused)).toEqual([400, { error: 'ai_gateway_unsupported_provider', message: expect.any(String) }]);
  });

  it('the agent’s own gateway is read with the source agent, and without its token', async () => {
    const made = await create(minimal({ aiGateway: gateway }), enterprise);
    expect(made.body.aiGateway).toEqual({
      source: 'agent',
      enabled: true,
      edgeAccountId: 'acc',
      gatewayName: 'main',
    });
    const optedOut = await create(minimal({ aiGateway: { enabled: false } }), enterprise);
    expect(optedOut.body.aiGateway).toEqual({ source: 'agent', enabled: false });
  });
});

describe('the agent limit', () => {
  it('is exact during 20 concurrent creations', async () => {
    const limited = await service.organization('--agent-limit', '7');
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(minimal(), limited)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(7);
    expect(await countOf(limited)).toBe(7);
    for (const refused of answers.filter(({ status }) => status !== 201)) {
      expect(outcome(refused)).toEqual([400, { error: 'agent_limit_reached', message: expect.stringContaining('7') }]);
    }
  });

  it('allows another creation after a deletion', async () => {
    const limited = await service.organization('--agent-limit', '1');
    const first = await create(minimal(), limited);
    expect((await refusal(minimal(), limited)).body.error).toBe('agent_limit_reached');
    await service.http('DELETE', `/v1/agents/${first.body.id}`, { key: limited.key });
    expect((await create(minimal(), limited)).status).toBe(201);
  });
});

describe('the key', () => {
  it('needs manageAgents, and must not have an allowlist', async () => {
    const { body } = await create(minimal());
    const reader = await organization.keyWith(['chat']);
    const scoped = await organization.keyWith(['manageAgents'], [body.id]);
    expect((await refusal(minimal(), reader)).body.code).toBe('forbidden_by_key_role');
    expect((await refusal(minimal(), scoped)).body.code).toBe('forbidden_org_endpoint_for_scoped_key');
  });
});
