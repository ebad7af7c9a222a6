import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService, type TestOrganization } from '../../support/harness.js';

const TEXT = expect.any(String);
const GATEWAY = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 'canary-1' };
const SHOWN = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main' };
const FORBIDDEN = {
  statusCode: 403,
  code: 'forbidden_ai_gateway_not_permitted',
  error: 'forbidden',
  message: TEXT,
};

const service = useService();
let organization: TestOrganization;

beforeEach(async () => {
  organization = await service.organization('--plan', 'enterprise');
});

function send(method: string, body?: unknown, { key }: { readonly key: string } = organization) {
  return service.http(method, '/v1/ai-gateway', { key, body });
}

async function secrets(): Promise<number> {
  return (await service.database.query('select 1 from secrets where organization_id = $1', [organization.id])).length;
}

describe('/v1/ai-gateway', () => {
  it('can be set, replaced, read and removed; its token is never returned and is removed with it', async () => {
    const none = await send('GET');
    expect([none.status, none.text]).toEqual([204, '']);
    const set = await send('PUT', GATEWAY);
    expect([set.status, set.body]).toEqual([200, { ...SHOWN, updatedAt: TEXT }]);
    const replaced = await send('PUT', { ...GATEWAY, gatewayName: 'second', edgeApiToken: 'canary-2' });
    const read = await send('GET');
    expect([read.status, read.body]).toEqual([
      200,
      { ...SHOWN, gatewayName: 'second', updatedAt: replaced.body.updatedAt },
    ]);
    expect(`${set.text}${replaced.text}${read.text}`).not.toContain('canary');
    expect(await secrets()).toBe(1);
    const removed = await send('DELETE');
    expect([removed.status, removed.body]).toEqual([200, { deleted: true }]);
    expect(await secrets()).toBe(0);
    expect((await send('GET')).status).toBe(204);
    const again = await send('DELETE');
    expect([again.status, again.body]).toEqual([404, { statusCode: 404, error: 'not_found', message: TEXT }]);
  });

  it('belongs to one organization', async () => {
    await send('PUT', GATEWAY);
    const stranger = await service.organization('--plan', 'enterprise');
    expect((await send('GET', undefined, stranger)).status).toBe(204);
    expect((await send('DELETE', undefined, stranger)).status).toBe(404);
    expect((await send('GET')).status).toBe(200);
  });

  it.each<[string, unknown]>([
    ['enabled', { enabled: false }],
    ['enabled', { ...GATEWAY, enabled: false }],
    ['enabled', { ...GATEWAY, enabled: 'true' }],
    ['edgeAccountId', { ...GATEWAY, edgeAccountId: '' }],
    ['edgeAccountId', { ...GATEWAY, edgeAccountId: '..' }],
    ['gatewayName', { ...GATEWAY, gatewayName: undefined }],
    ['gatewayName', { ...GATEWAY, gatewayName: '.' }],
    ['edgeApiToken', { ...GATEWAY, edgeApiToken: undefined }],
    ['edgeApiToken', { ...GATEWAY, edgeApiToken: 'two\nlines' }],
    ['colour', { ...GATEWAY, colour: 'red' }],
  ])('refuses a wrong %s and keeps the stored gateway (%j)', async (field, body) => {
    await send('PUT', GATEWAY);
    const refused = await send('PUT', body);
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      400,
      'FST_ERR_VALIDATION',
      expect.stringContaining(field),
    ]);
    expect(refused.text).not.toContain('lines');
    expect((await send('GET')).body).toMatchObject(SHOWN);
  });

  it('needs a plan that includes it; a stored gateway can be removed without it', async () => {
    const free = await service.organization();
    for (const [method, body] of [['GET'], ['PUT', GATEWAY]] as const) {
      const refused = await send(method, body, free);
      expect([refused.status, refused.body]).toEqual([403, FORBIDDEN]);
    }
    expect((await send('DELETE', undefined, free)).status).toBe(404);
    await send('PUT', GATEWAY);
    await service.cli('org', 'set', organization.id, '--plan', 'free');
    expect((await send('GET')).status).toBe(403);
    expect((await send('DELETE')).status).toBe(200);
    expect(await secrets()).toBe(0);
  });

  it('can be changed with manageAgents and read with any key, but not with an allowlist', async () => {
    const agent = await service.agent(organization.key);
    const reader = await organization.keyWith(['chat']);
    const scoped = await organization.keyWith(['manageAgents'], [agent]);
    expect((await send('GET', undefined, reader)).status).toBe(204);
    for (const [method, body] of [['PUT', GATEWAY], ['DELETE']] as const) {
      expect((await send(method, body, reader)).body.code).toBe('forbidden_by_key_role');
    }
    for (const [method, body] of [['GET'], ['PUT', GATEWAY], ['DELETE']] as const) {
      expect((await send(method, body, scoped)).body.code).toBe('forbidden_org_endpoint_for_scoped_key');
    }
  });
});

describe('the gateway of the organization in agents', () => {
  const DIRECT = { enabled: false };

  async function shown(id: string): Promise<unknown> {
    const { body } = await service.http('GET', `/v1/agents/${id}`, { key: organization.key });
    const listed = await service.http<{ agents: unknown[] }>('GET', `/v1/agents?ids=${id}`, { key: organization.key });
    expect(listed.body.agents).toEqual([body]);
    const { assistants } = (
      await service.http<{ assistants: { id: string; aiGateway: unknown }[] }>('GET', '/v1/assistants', {
        key: organization.key,
      })
    ).body;
    expect(assistants.find((assistant) => assistant.id === id)?.aiGateway).toEqual(body.aiGateway);
    return body.aiGateway;
  }

  async function patch(id: string, aiGateway: unknown): Promise<unknown> {
    const path = `/v1/agents/${id}`;
    return (await service.http('PATCH', path, { key: organization.key, body: { aiGateway } })).body.aiGateway;
  }

  const inherited = { source: 'organization', ...SHOWN };

  it.each(['anthropic', 'openai-responses'])(
    '%s agents inherit it, override it, opt out and fall back',
    async (type) => {
      const id = await service.agent(organization.key, { provider: { type } });
      expect(await shown(id)).toBeNull();
      await send('PUT', GATEWAY);
      expect(await shown(id)).toEqual(inherited);
      const own = { ...GATEWAY, gatewayName: 'own' };
      expect(await patch(id, own)).toEqual({ source: 'agent', ...SHOWN, gatewayName: 'own' });
      expect(await patch(id, DIRECT)).toEqual({ source: 'agent', ...DIRECT });
      expect(await shown(id)).toEqual({ source: 'agent', ...DIRECT });
      expect(await patch(id, null)).toEqual(inherited);
      await send('DELETE');
      expect(await shown(id)).toBeNull();
    },
  );

  it('is absent from gemini agents, and changes no version of an agent', async () => {
    await send('PUT', GATEWAY);
    const gemini = await service.agent(organization.key, { provider: { type: 'gemini' } });
    expect(await shown(gemini)).toBeNull();
    const { body } = await service.http('GET', `/v1/agents/${gemini}`, { key: organization.key });
    expect(body.version).toBe(1);
  });

  it('is absent while the plan does not include it', async () => {
    const id = await service.agent(organization.key);
    await send('PUT', GATEWAY);
    await service.cli('org', 'set', organization.id, '--plan', 'free');
    expect(await shown(id)).toBeNull();
    await service.cli('org', 'set', organization.id, '--plan', 'enterprise');
    expect(await shown(id)).toEqual(inherited);
  });
});
