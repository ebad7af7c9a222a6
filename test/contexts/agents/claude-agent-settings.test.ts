import { beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, useService } from '../../support/harness.js';
import { type AgentBody, agentRequest, createAgent, type ErrorBody, outcome } from './support.js';

const TYPE = 'claude-agent-sdk';
const TEXT = expect.any(String);
const REDACTED = '<redacted>';

/** A model of each family, and a key whose format belongs to that family. */
const CLAUDE = { model: 'claude-haiku-4-5', apiKey: 'sk-ant-canary' };
const OPENAI = { model: 'gpt-5.4', apiKey: 'sk-proj-canary' };
const GEMINI = { model: 'gemini-3.6-flash', apiKey: 'AIzaCanary' };
const FAMILIES = [CLAUDE, OPENAI, GEMINI];
const OWN_KEY_ONLY = 'gpt-5.5-pro';

const service = useService();
let organization: TestOrganization;
/** An organization without the feature. */
let without: TestOrganization;

beforeAll(async () => {
  organization = await service.organization('--plan', 'enterprise');
  without = await service.organization('--features', '-claude_agent_sdk');
});

function request(provider: object = {}, more: object = {}): Record<string, unknown> {
  return agentRequest({ provider: { type: TYPE, ...provider }, ...more });
}

function create<Body = ErrorBody>(body: unknown, { key } = organization) {
  return service.http<Body>('POST', '/v1/agents', { key, body });
}

function made(provider: object = {}, owner = organization): Promise<AgentBody> {
  return createAgent(service, owner, request(provider));
}

/** An agent with its own key. */
function owning(own: (typeof FAMILIES)[number] = CLAUDE): Promise<AgentBody> {
  return made({ ...own, useOwnApiKey: true });
}

function patch<Body = AgentBody>(id: string, body: unknown, { key } = organization) {
  return service.http<Body>('PATCH', `/v1/agents/${id}`, { key, body });
}

function change<Body = AgentBody>(id: string, provider: object) {
  return patch<Body>(id, { provider: { type: TYPE, ...provider } });
}

function rotate(id: string, apiKey: string) {
  return service.http('PUT', `/v1/agents/${id}/provider-key`, { key: organization.key, body: { apiKey } });
}

function restore(id: string, version: number) {
  return service.http<AgentBody>('POST', `/v1/agents/${id}/versions/${version}/restore`, { key: organization.key });
}

async function read(id: string, { key } = organization): Promise<AgentBody> {
  return (await service.http<AgentBody>('GET', `/v1/agents/${id}`, { key })).body;
}

/** The changes of each version, newest first. */
async function changesOf(id: string): Promise<readonly unknown[]> {
  const { body, text } = await service.http<{ versions: { changes: unknown }[] }>('GET', `/v1/agents/${id}/versions`, {
    key: organization.key,
  });
  expect(text.toLowerCase()).not.toContain('canary');
  return body.versions.map(({ changes }) => changes);
}

function invalid(...words: string[]): [number, object] {
  const message = expect.stringMatching(words.map((word) => `(?=.*${word})`).join(''));
  return [400, { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'bad_request', message }];
}

async function expectRefused(agent: AgentBody, provider: object, ...words: string[]): Promise<void> {
  expect(outcome(await change<ErrorBody>(agent.id, provider))).toEqual(invalid(...words));
  expect(await read(agent.id)).toEqual(agent);
}

describe('a new claude-agent-sdk agent', () => {
  it('has type, model and useOwnApiKey as its provider, and the defaults of every agent', async () => {
    const { status, body } = await create<AgentBody>(request());
    expect(status).toBe(201);
    const anthropic = await createAgent(service, organization);
    const provider = { type: TYPE, model: anthropic.provider.model, useOwnApiKey: false };
    const { id, createdAt, updatedAt } = body;
    expect(body).toEqual({ ...anthropic, id, createdAt, updatedAt, provider });
    expect(await read(id)).toEqual(body);
  });

  it.each(FAMILIES)(
    'runs on a model of any family, on the managed key and on its own ($model)',
    async ({ model, apiKey }) => {
      expect((await made({ model })).provider).toEqual({ type: TYPE, model, useOwnApiKey: false });
      const own = await create(request({ model, useOwnApiKey: true, apiKey }));
      expect(own.body).toMatchObject({ provider: { type: TYPE, model, useOwnApiKey: true } });
      expect(own.text).not.toContain(apiKey);
    },
  );

  it('has the models of all families, as GET /v1/provider-models lists them', async () => {
    const { body } = await service.http<{
      models: { provider: string; id: string; default: boolean; thinking: string; temperature: boolean }[];
    }>(...(['GET', '/v1/provider-models', { key: organization.key }] as const));
    const listed = body.models.filter(({ provider }) => provider === TYPE);
    const others = body.models.filter(({ provider }) => provider !== TYPE);
    const setting = (thinking: string): string => (thinking === 'always' ? thinking : 'none');
    expect(listed).toEqual(
      others.map((model) => ({
        ...{ ...model, provider: TYPE, default: model.provider === 'anthropic' && model.default },
        ...{ temperature: false, thinking: setting(model.thinking) },
      })),
    );
  });

  it.each([
    { thinking: { type: 'disabled' } },
    { temperature: 1 },
    { webSearch: true },
    { reasoning: { effort: 'low' } },
    { text: { verbosity: 'low' } },
  ])('has no further provider settings, also not in a change (%j)', async (setting) => {
    const field = Object.keys(setting).join();
    expect(outcome(await create(request(setting)))).toEqual(invalid(field));
    await expectRefused(await made(), setting, field);
  });

  it('has a timeout of at most 10 minutes, also after a change', async () => {
    const { status, body } = await create<AgentBody>(request({}, { timeoutMinutes: 10 }));
    expect([status, body.timeoutMinutes]).toEqual([201, 10]);
    expect(outcome(await create(request({}, { timeoutMinutes: 11 })))).toEqual(invalid('body/timeoutMinutes', '10'));
    expect(outcome(await patch(body.id, { timeoutMinutes: 11 }))).toEqual(invalid('body/timeoutMinutes', '10'));
    expect((await patch(body.id, { timeoutMinutes: 1 })).body.timeoutMinutes).toBe(1);
  });

  it('emits only buttons', async () => {
    const { id } = await made();
    const set = await patch(id, { responseComponents: { frequency: 'high', components: { choiceButtons: true } } });
    expect(set.body.responseComponents).toMatchObject({ frequency: 'high', components: { choiceButtons: true } });
    const refused = await patch<ErrorBody>(id, { responseComponents: { components: { list: true } } });
    expect([refused.status, refused.body.code]).toEqual([422, 'unsupported_for_agent_type']);
    expect(refused.body.message).toContain('list');
  });
});

describe('an organization without the feature', () => {
  it('can neither create nor change claude-agent-sdk agents', async () => {
    const refused = [400, { error: 'claude_agent_sdk_not_permitted', message: TEXT }];
    expect(outcome(await create(request(), without))).toEqual(refused);
    const owner = await service.organization();
    const agent = await made({}, owner);
    await service.cli('org', 'set', owner.id, '--features', '');
    for (const body of [{ name: 'Grace' }, { provider: { type: TYPE, model: GEMINI.model } }, {}]) {
      expect(outcome(await patch(agent.id, body, owner))).toEqual(refused);
    }
    expect(await read(agent.id, owner)).toEqual(agent);
  });
});

describe('the key of a claude-agent-sdk agent', () => {
  it.each<[string, string[]]>([
    [CLAUDE.model, ['sk-proj-canary', 'sk-canary', 'AIzaCanary', 'AQ.canary']],
    [OPENAI.model, ['sk-ant-canary', 'AIzaCanary', 'AQ.canary']],
    [GEMINI.model, ['sk-ant-canary', 'sk-canary']],
  ])('must be of the family of %s, at creation, change and rotation', async (model, keys) => {
    const agent = await made({ model, useOwnApiKey: true, apiKey: 'canary-of-some-form' });
    for (const apiKey of keys) {
      const refused = await create(request({ model, useOwnApiKey: true, apiKey }));
      expect(outcome(refused)).toEqual(invalid('body/provider/apiKey', model));
      expect(refused.text).not.toContain(apiKey);
      await expectRefused(agent, { useOwnApiKey: true, apiKey }, 'body/provider/apiKey', model);
      expect(outcome(await rotate(agent.id, apiKey))).toEqual(invalid('body/apiKey', model));
    }
    expect(await read(agent.id)).toEqual(agent);
  });

  it('may have an unknown format, as those of compatible endpoints', async () => {
    for (const { model } of FAMILIES) {
      const { id } = await made({ model, useOwnApiKey: true, apiKey: 'canary-1' });
      expect((await rotate(id, 'canary-2')).status).toBe(200);
      expect((await change(id, { useOwnApiKey: true, apiKey: 'canary-3' })).body.version).toBe(3);
    }
  });

  it('is required with useOwnApiKey, and refused without it', async () => {
    expect(outcome(await create(request({ useOwnApiKey: true })))).toEqual(invalid('body/provider/apiKey'));
    expect(outcome(await create(request({ apiKey: CLAUDE.apiKey })))).toEqual(invalid('body/provider/apiKey'));
    for (const agent of [await made(), await owning()]) {
      await expectRefused(agent, { apiKey: CLAUDE.apiKey }, 'body/provider/apiKey');
      await expectRefused(agent, { useOwnApiKey: false }, 'body/provider/useOwnApiKey');
      await expectRefused(agent, { useOwnApiKey: false, apiKey: CLAUDE.apiKey }, 'body/provider/useOwnApiKey');
    }
    await expectRefused(await made(), { useOwnApiKey: true }, 'body/provider/apiKey');
  });

  it('sent to a managed agent is used in its later runs, and creates one version', async () => {
    const { id, provider } = await made();
    const changed = await change(id, { useOwnApiKey: true, apiKey: CLAUDE.apiKey });
    expect([changed.status, changed.body.version]).toEqual([200, 2]);
    const after = { ...provider, useOwnApiKey: true };
    expect(changed.body.provider).toEqual(after);
    expect(changed.text).not.toContain('canary');
    const key = { field: 'provider.apiKey', before: REDACTED, after: REDACTED };
    expect(await changesOf(id)).toEqual([[{ field: 'provider', before: provider, after }, key], []]);
    expect((await rotate(id, CLAUDE.apiKey)).headers.get('etag')).toBe('"2"');
  });

  it('is replaced by another one as a new version, and the same one creates none', async () => {
    const { id } = await owning();
    expect((await change(id, { useOwnApiKey: true })).body.version).toBe(1);
    expect((await change(id, { useOwnApiKey: true, apiKey: CLAUDE.apiKey })).body.version).toBe(1);
    expect((await change(id, { useOwnApiKey: true, apiKey: 'sk-ant-canary-2' })).body.version).toBe(2);
    expect(await changesOf(id)).toEqual([[{ field: 'provider.apiKey', before: REDACTED, after: REDACTED }], []]);
  });

  it('is not stored by a change that is refused', async () => {
    const agent = await owning();
    const provider = { type: TYPE, useOwnApiKey: true, apiKey: 'sk-ant-canary-2' };
    expect((await patch(agent.id, { provider, systemPrompt: 'x'.repeat(200_001) })).status).toBe(400);
    expect((await rotate(agent.id, CLAUDE.apiKey)).headers.get('etag')).toBe('"1"');
  });

  it('is one of 50 that are sent at once, and each of them was a version', async () => {
    const { id } = await made();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => change(id, { useOwnApiKey: true, apiKey: `canary-${n}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.version)).size).toBe(50);
    const last = answers.findIndex(({ body }) => body.version === 51);
    expect((await rotate(id, `canary-${last}`)).headers.get('etag')).toBe('"51"');
  });
});

describe('the model of a claude-agent-sdk agent', () => {
  it('can change to any family on the managed key', async () => {
    const { id } = await made();
    for (const { model } of [OPENAI, GEMINI, CLAUDE]) {
      expect((await change(id, { model })).body.provider).toEqual({ type: TYPE, model, useOwnApiKey: false });
    }
  });

  it('can change within its family on the own key, and to another family only with a key for it in the same request', async () => {
    const agent = await owning();
    const sibling = await change(agent.id, { model: 'claude-sonnet-5' });
    expect(sibling.body.provider).toMatchObject({ model: 'claude-sonnet-5', useOwnApiKey: true });
    const { model, apiKey } = OPENAI;
    await expectRefused(sibling.body, { model }, 'body/provider/apiKey', model);
    await expectRefused(sibling.body, { model, useOwnApiKey: true }, 'body/provider/apiKey', model);
    await expectRefused(sibling.body, { model, apiKey }, 'body/provider/apiKey', 'useOwnApiKey');
    await expectRefused(
      sibling.body,
      { model, useOwnApiKey: true, apiKey: CLAUDE.apiKey },
      'body/provider/apiKey',
      model,
    );
    const switched = await change(agent.id, { model, useOwnApiKey: true, apiKey });
    expect(switched.body).toMatchObject({ version: 3, provider: { type: TYPE, model, useOwnApiKey: true } });
    expect((await rotate(agent.id, apiKey)).headers.get('etag')).toBe('"3"');
  });

  it('that needs an own key requires one, which may be in the same request', async () => {
    expect(outcome(await create(request({ model: OWN_KEY_ONLY })))).toEqual(
      invalid('body/provider/model', 'useOwnApiKey'),
    );
    const managed = await made();
    await expectRefused(managed, { model: OWN_KEY_ONLY }, 'body/provider/model', 'useOwnApiKey');
    const changed = await change(managed.id, { model: OWN_KEY_ONLY, useOwnApiKey: true, apiKey: OPENAI.apiKey });
    expect(changed.body.provider).toEqual({ type: TYPE, model: OWN_KEY_ONLY, useOwnApiKey: true });
    const own = await owning(OPENAI);
    expect((await change(own.id, { model: OWN_KEY_ONLY })).body.provider.model).toBe(OWN_KEY_ONLY);
  });

  it('can be sent again when it is stored, also when it is in no catalogue any more', async () => {
    for (const agent of [await made(), await owning(GEMINI)]) {
      const { model } = agent.provider;
      expect(outcome(await change(agent.id, { model }))).toEqual([200, agent]);
    }
    const { id } = await owning();
    const stored = `update agents set settings = jsonb_set(settings, '{provider,model}', '"withdrawn"') where id = $1`;
    await service.database.query(stored, [id]);
    expect((await change(id, { model: 'withdrawn' })).body.provider).toEqual({
      type: TYPE,
      model: 'withdrawn',
      useOwnApiKey: true,
    });
    expect((await change(id, { model: CLAUDE.model })).status).toBe(200);
  });

  it('that is in no catalogue is refused, and the message lists the available ones', async () => {
    const { model } = (await made()).provider;
    expect(outcome(await create(request({ model: 'no-such-model' })))).toEqual(
      invalid('body/provider/model', model, OPENAI.model, GEMINI.model),
    );
    await expectRefused(await made(), { model: 'no-such-model' }, 'body/provider/model', OPENAI.model, GEMINI.model);
  });
});

describe('an earlier version of a claude-agent-sdk agent', () => {
  it('is restored with the present key of the agent', async () => {
    const { id } = await made();
    await change(id, { model: 'claude-sonnet-5', useOwnApiKey: true, apiKey: CLAUDE.apiKey });
    const restored = await restore(id, 1);
    expect(restored.body).toMatchObject({ version: 3, provider: { type: TYPE, useOwnApiKey: true } });
    expect((await rotate(id, CLAUDE.apiKey)).headers.get('etag')).toBe('"3"');
  });

  it('is refused when its model is of another family than the agent’s own key, and restored on the managed key', async () => {
    const own = await owning();
    const { body } = await change(own.id, { ...OPENAI, useOwnApiKey: true });
    const message = expect.stringContaining('family');
    const refused = { statusCode: 422, code: 'version_not_restorable', error: 'unprocessable_entity', message };
    expect(outcome(await restore(own.id, 1))).toEqual([422, refused]);
    expect(await read(own.id)).toEqual(body);
    const managed = await made();
    await change(managed.id, { model: GEMINI.model });
    expect((await restore(managed.id, 1)).body.provider).toEqual(managed.provider);
  });
});

describe('the gateway', () => {
  const gateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 'canary-token' };

  it('can be neither set nor disabled on a claude-agent-sdk agent', async () => {
    const refused = [400, { error: 'ai_gateway_unsupported_provider', message: TEXT }];
    const { id } = await made();
    for (const aiGateway of [gateway, { enabled: false }]) {
      expect(outcome(await create(request({}, { aiGateway })))).toEqual(refused);
      expect(outcome(await patch(id, { aiGateway }))).toEqual(refused);
    }
    expect((await patch(id, { aiGateway: null })).body.aiGateway).toBeNull();
  });

  it('of the organization receives its traffic if it supports the family of the model', async () => {
    const owner = await service.organization('--plan', 'enterprise');
    const agents = await Promise.all(FAMILIES.map(({ model }) => made({ model }, owner)));
    await service.http('PUT', '/v1/ai-gateway', { key: owner.key, body: gateway });
    const shown = { source: 'organization', enabled: true, edgeAccountId: 'acc', gatewayName: 'main' };
    const after = await Promise.all(agents.map(({ id }) => read(id, owner)));
    expect(after.map(({ aiGateway }) => aiGateway)).toEqual([shown, shown, null]);
  });
});
