import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService, type TestOrganization } from '../../support/harness.js';
import { type AgentBody, createAgent, type ErrorBody, outcome } from './support.js';

const service = useService();
let organization: TestOrganization;

beforeEach(async () => {
  organization = await service.organization('--plan', 'enterprise', '--features', 'knowledge_search');
});

interface Sender {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function patch<Body = AgentBody>(id: string, body: unknown, { key = organization.key, headers }: Sender = {}) {
  return service.http<Body>('PATCH', `/v1/agents/${id}`, { key, body, headers });
}

async function read(id: string): Promise<AgentBody> {
  return (await service.http<AgentBody>('GET', `/v1/agents/${id}`, { key: organization.key })).body;
}

async function expectRefused(agent: AgentBody, body: unknown, status: number, expected: object): Promise<void> {
  expect(outcome(await patch<ErrorBody>(agent.id, body))).toEqual([status, expected]);
  expect(await read(agent.id)).toEqual(agent);
}

const TEXT = expect.any(String);

describe('PATCH /v1/agents/{agentId}', () => {
  it('changes only fields of the request, returns the whole agent and raises the version', async () => {
    const made = await createAgent(service, organization, { systemPrompt: 'Be kind.' });
    const changed = await patch(made.id, { name: 'Grace', knowledgeSearch: { maxResults: 9 } });
    expect(outcome(changed)).toEqual([
      200,
      {
        ...made,
        name: 'Grace',
        knowledgeSearch: { maxResults: 9, scoreThreshold: 0.444, semanticWeight: 0.4 },
        version: 2,
        updatedAt: TEXT,
      },
    ]);
    expect(changed.headers.get('etag')).toBe('"2"');
    expect(await read(made.id)).toEqual(changed.body);
  });

  it('without effect keeps version and time', async () => {
    const made = await createAgent(service, organization);
    const { name, systemPrompt, provider, timeoutMinutes } = made;
    const same = { name, systemPrompt, provider: { type: provider.type, model: provider.model }, timeoutMinutes };
    for (const body of [{}, same]) expect(outcome(await patch(made.id, body))).toEqual([200, made]);
  });

  it('clears the prompt with an empty string', async () => {
    const { id } = await createAgent(service, organization, { systemPrompt: 'Be kind.' });
    expect((await patch(id, { systemPrompt: '' })).body.systemPrompt).toBe('');
  });

  it('removes one limit of runs with null in its place, and both with null in place of the object', async () => {
    const runLimits = { maxSteps: 7, maxCredits: 2.5 };
    const { id } = await createAgent(service, organization, { runLimits });
    const changed = await patch(id, { runLimits: { maxSteps: null } });
    expect(changed.body).toMatchObject({ version: 2, runLimits: { maxSteps: null, maxCredits: 2.5 } });
    const removed = await patch(id, { runLimits: null });
    expect(removed.body).toMatchObject({ version: 3, runLimits: { maxSteps: null, maxCredits: null } });
    expect((await patch(id, { runLimits: null })).body).toEqual(removed.body);
  });

  it('applies all of 50 concurrent changes of different fields', async () => {
    const { id } = await createAgent(service, organization);
    const gateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 't' };
    const changes = [
      { name: 'Grace' },
      { systemPrompt: 'Be kind.' },
      { timeoutMinutes: 20 },
      { longTermMemory: { enabled: false } },
      { toolProgress: { enabled: false } },
      { runLimits: { maxSteps: 7 } },
      { runLimits: { maxCredits: 2.5 } },
      { tools: { requireApprovalForResourceChanges: true } },
      { tools: { requireApprovalBeforeToolCalls: true } },
      { knowledgeSearch: { maxResults: 9 } },
      { knowledgeSearch: { scoreThreshold: 0.1 } },
      { knowledgeSearch: { semanticWeight: 0.9 } },
      { provider: { type: 'anthropic', webSearch: true } },
      { provider: { type: 'anthropic', temperature: 0.3 } },
      { provider: { type: 'anthropic', thinking: { type: 'disabled' } } },
      { responseComponents: { frequency: 'high' } },
      { responseComponents: { components: { list: true } } },
      { responseComponents: { components: { card: false } } },
      { aiGateway: gateway },
    ];
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => patch(id, changes[n % changes.length])));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await read(id)).toMatchObject({
      name: 'Grace',
      systemPrompt: 'Be kind.',
      timeoutMinutes: 20,
      longTermMemory: { enabled: false },
      toolProgress: { enabled: false },
      tools: { requireApprovalForResourceChanges: true, requireApprovalBeforeToolCalls: true },
      runLimits: { maxSteps: 7, maxCredits: 2.5 },
      knowledgeSearch: { maxResults: 9, scoreThreshold: 0.1, semanticWeight: 0.9 },
      provider: { webSearch: true, temperature: 0.3, thinking: { type: 'disabled' } },
      responseComponents: { frequency: 'high', components: { list: true, card: false, choiceButtons: true } },
      aiGateway: { source: 'agent', enabled: true, edgeAccountId: 'acc', gatewayName: 'main' },
      version: 1 + changes.length,
    });
  });

  it('answers 404 for an agent of another organization, which does not change', async () => {
    const stranger = await service.organization();
    const made = await createAgent(service, organization);
    const { status, body } = await patch<ErrorBody>(made.id, { name: 'Mine' }, stranger);
    expect([status, body.error]).toEqual([404, 'not_found']);
    expect(await read(made.id)).toEqual(made);
  });

  it('needs manageAgents', async () => {
    const made = await createAgent(service, organization);
    const { body } = await patch<ErrorBody>(made.id, { name: 'Grace' }, await organization.keyWith(['chat']));
    expect(body.code).toBe('forbidden_by_key_role');
  });
});

describe('If-Match', () => {
  it('accepts a change with the present version, in any form of the header', async () => {
    const { id } = await createAgent(service, organization);
    for (const [n, tag] of ['"1"', 'W/"2"', '"1", "3"', '*'].entries()) {
      const { status } = await patch(id, { name: `name ${n}` }, { headers: { 'if-match': tag } });
      expect([tag, status]).toEqual([tag, 200]);
    }
  });

  it('refuses a stale version and changes nothing', async () => {
    const made = await createAgent(service, organization);
    for (const tag of ['"2"', '"0", "7"', 'something']) {
      const stale = await patch<ErrorBody>(made.id, { name: 'Grace' }, { headers: { 'if-match': tag } });
      expect(outcome(stale)).toEqual([
        409,
        { statusCode: 409, code: 'version_conflict', error: 'conflict', message: expect.stringContaining('1') },
      ]);
    }
    expect(await read(made.id)).toEqual(made);
  });

  it('accepts one of ten concurrent changes', async () => {
    const { id } = await createAgent(service, organization);
    const tagged = { headers: { 'if-match': '"1"' } };
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => patch(id, { name: `name ${n}` }, tagged)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
  });
});

describe('a refused change stores nothing', () => {
  const CAUSES: [string, Record<string, unknown>, unknown][] = [
    ['provider_type_mismatch', {}, { name: 'Grace', provider: { type: 'gemini' } }],
    ['provider_type_mismatch', {}, { provider: { type: 'claude-agent-sdk', useOwnApiKey: true, apiKey: 'k' } }],
    ['system_prompt_too_long', {}, { name: 'Grace', systemPrompt: 'x'.repeat(200_001) }],
    ['ai_gateway_unsupported_provider', { provider: { type: 'gemini' } }, { aiGateway: { enabled: false } }],
  ];

  it.each(CAUSES)('%s', async (error, extra, body) => {
    await expectRefused(await createAgent(service, organization, extra), body, 400, { error, message: TEXT });
  });

  it('the removal of the gateway is never refused, and settings that the plan does not include read as their defaults', async () => {
    const aiGateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 't' };
    const { id } = await createAgent(service, organization, { aiGateway, knowledgeSearch: { maxResults: 9 } });
    const { key } = organization;
    const read = async () => (await service.http('GET', `/v1/agents/${id}`, { key })).body;
    expect(await read()).toMatchObject({
      aiGateway: { source: 'agent', enabled: true },
      knowledgeSearch: { maxResults: 9 },
    });
    await service.cli('org', 'set', organization.id, '--plan', 'free', '--features', '');
    const withdrawn = {
      aiGateway: { source: 'agent', enabled: false },
      knowledgeSearch: { maxResults: 5, scoreThreshold: 0.444, semanticWeight: 0.4 },
    };
    const shown = await read();
    expect([shown.aiGateway, shown.knowledgeSearch]).toEqual([withdrawn.aiGateway, withdrawn.knowledgeSearch]);
    const listed = await service.http<{ assistants: object[] }>('GET', '/v1/assistants', { key });
    expect(listed.body.assistants).toMatchObject([withdrawn]);
    const dropped = await service.http('PATCH', `/v1/agents/${id}`, { key, body: { aiGateway: null } });
    expect([dropped.status, dropped.body.aiGateway]).toEqual([200, null]);
    await service.cli('org', 'set', organization.id, '--plan', 'enterprise', '--features', 'knowledge_search');
    expect(await read()).toMatchObject({ aiGateway: null, knowledgeSearch: { maxResults: 9 } });
  });

  it('knowledge_search_not_permitted and the gateway’s 403', async () => {
    organization = await service.organization();
    const made = await createAgent(service, organization);
    await expectRefused(made, { knowledgeSearch: {} }, 400, { error: 'knowledge_search_not_permitted', message: TEXT });
    const code = 'forbidden_ai_gateway_not_permitted';
    const forbidden = { statusCode: 403, code, error: 'forbidden', message: TEXT };
    await expectRefused(made, { aiGateway: { enabled: false } }, 403, forbidden);
  });

  it.each<[string, string, unknown]>([
    ['name', 'anthropic', { name: '' }],
    ['name', 'anthropic', { name: null }],
    ['integrations', 'anthropic', { tools: { integrations: ['webSearch'] } }],
    ['type', 'anthropic', { provider: { webSearch: true } }],
    ['model', 'anthropic', { provider: { type: 'anthropic', model: 'no-such-model' } }],
    ['useOwnApiKey', 'anthropic', { provider: { type: 'anthropic', useOwnApiKey: true } }],
    ['apiKey', 'gemini', { provider: { type: 'gemini', apiKey: 'k' } }],
    ['model', 'openai-responses', { provider: { type: 'openai-responses', model: 'gpt-5.5-pro' } }],
    ['useOwnApiKey', 'anthropic', { provider: { type: 'claude-agent-sdk', useOwnApiKey: false } }],
    ['timeoutMinutes', 'anthropic', { timeoutMinutes: 21 }],
    ['version', 'anthropic', { version: 7 }],
  ])('a wrong %s of an %s agent (%j)', async (field, type, body) => {
    const made = await createAgent(service, organization, { provider: { type } });
    const message = expect.stringContaining(field);
    const invalid = { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'bad_request', message };
    await expectRefused(made, body, 400, invalid);
  });
});

describe('the system prompt', () => {
  it('beyond the limit can be replaced by any that is not longer', async () => {
    const { id } = await createAgent(service, organization);
    await service.database.query(`update agents set system_prompt = repeat('x', 210000) where id = $1`, [id]);
    expect((await patch(id, { systemPrompt: 'y'.repeat(210_000) })).status).toBe(200);
    const tooLong = await patch<ErrorBody>(id, { systemPrompt: 'y'.repeat(210_001) });
    expect(tooLong.body.error).toBe('system_prompt_too_long');
    expect((await patch(id, { systemPrompt: 'y'.repeat(205_000) })).status).toBe(200);
    const longAgain = await patch<ErrorBody>(id, { systemPrompt: 'y'.repeat(210_000) });
    expect(longAgain.body.error).toBe('system_prompt_too_long');
  });
});

describe('response components', () => {
  it.each([
    { frequency: 'always' },
    { frequency: null },
    { components: { hologram: true } },
    { components: { card: 'yes' } },
    { components: [] },
    { colour: 'blue' },
    'high',
    null,
  ])('are refused as bad_request when they are invalid (%j)', async (responseComponents) => {
    const made = await createAgent(service, organization);
    const message = expect.stringContaining('responseComponents');
    await expectRefused(made, { name: 'Grace', responseComponents }, 400, { error: 'bad_request', message });
  });

  it('are refused as unsupported when the type cannot emit them, naming the switches', async () => {
    const made = await createAgent(service, organization, { provider: { type: 'gemini' } });
    const code = 'unsupported_for_agent_type';
    const unsupported = (message: unknown) => ({ statusCode: 422, code, error: 'unprocessable_entity', message });
    await expectRefused(made, { responseComponents: { frequency: 'low' } }, 422, unsupported(TEXT));
    await expectRefused(
      made,
      { name: 'Grace', responseComponents: { components: { card: true, list: true, chart: true } } },
      422,
      unsupported(expect.stringMatching(/list, chart/)),
    );
  });

  it('may always be switched off, and a partial map changes only its switches', async () => {
    const { id } = await createAgent(service, organization, { provider: { type: 'gemini' } });
    const off = await patch(id, { responseComponents: { frequency: 'off', components: { card: false } } });
    expect(off.body.responseComponents).toEqual({
      frequency: 'off',
      components: { choiceButtons: true, card: false, list: false, table: false, chart: false },
    });
  });
});

describe('the gateway', () => {
  const gateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 'canary-1' };

  it('can be set, disabled and removed; its token is never returned, and deleted with it', async () => {
    const { id } = await createAgent(service, organization);
    const tokens = async (): Promise<number> =>
      (await service.database.query(`select 1 from secrets where record_id = $1`, [id])).length;
    const set = await patch(id, { aiGateway: gateway });
    expect(set.body.aiGateway).toEqual({ source: 'agent', enabled: true, edgeAccountId: 'acc', gatewayName: 'main' });
    expect(set.text).not.toContain('canary');
    expect(await tokens()).toBe(1);
    const optedOut = await patch(id, { aiGateway: { enabled: false } });
    expect(optedOut.body.aiGateway).toEqual({ source: 'agent', enabled: false });
    expect(await tokens()).toBe(0);
    expect((await patch(id, { aiGateway: null })).body.aiGateway).toBeNull();
  });

  it('creates a version with another token, and none with the same one', async () => {
    const { id } = await createAgent(service, organization, { aiGateway: gateway });
    expect((await patch(id, { aiGateway: gateway })).body.version).toBe(1);
    expect((await patch(id, { aiGateway: { ...gateway, edgeApiToken: 'canary-2' } })).body.version).toBe(2);
  });
});
