import { beforeEach, describe, expect, it } from '@jest/globals';
import { message, useService, type TestOrganization } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';
import { createAgent, type ErrorBody, outcome } from './support.js';

const service = useService();
let organization: TestOrganization;

beforeEach(async () => {
  organization = await service.organization();
});

function rotate<Body = { updatedAt: string }>(id: string, body: unknown, key = organization.key, ifMatch?: string) {
  const headers: Record<string, string> = ifMatch === undefined ? {} : { 'if-match': ifMatch };
  return service.http<Body>('PUT', `/v1/agents/${id}/provider-key`, { key, body, headers });
}

describe.each(AGENT_WIRES)('the own key of a $provider agent', (wire) => {
  it('is replaced at once, as a new version, and never returned', async () => {
    const made = await createAgent(service, organization, {
      provider: { type: wire.provider, model: wire.model, useOwnApiKey: true, apiKey: 'canary-1' },
    });
    const thread = await service.thread(organization.key, made.id);
    service.models.always(says('ok'));
    const run = () =>
      service.http('POST', `/v1/threads/${thread}/runs`, { key: organization.key, body: message('Hi') });
    await run();
    const rotated = await rotate(made.id, { apiKey: 'canary-2' });
    expect(outcome(rotated)).toEqual([200, { useOwnApiKey: true, updatedAt: expect.any(String) }]);
    expect(rotated.headers.get('etag')).toBe('"2"');
    expect(rotated.text).not.toContain('canary');
    await run();
    expect(service.models.requests.map(({ headers }) => wire.keyOf(headers))).toEqual(['canary-1', 'canary-2']);
  });
});

describe('PUT /v1/agents/{agentId}/provider-key', () => {
  const provider = { type: 'gemini', useOwnApiKey: true, apiKey: 'sk-1' };

  it('with the stored key changes nothing', async () => {
    const { id, updatedAt } = await createAgent(service, organization, { provider });
    expect((await rotate(id, { apiKey: 'sk-1' })).body.updatedAt).toBe(updatedAt);
    const { body } = await service.http('GET', `/v1/agents/${id}`, { key: organization.key });
    expect(body.version).toBe(1);
  });

  it('is refused for an agent on the managed key', async () => {
    const { id } = await createAgent(service, organization);
    const code = 'agent_on_managed_key';
    const message = expect.stringContaining('useOwnApiKey');
    const expected = { statusCode: 422, code, error: 'unprocessable_entity', message };
    expect(outcome(await rotate(id, { apiKey: 'sk-1' }))).toEqual([422, expected]);
  });

  it.each([{}, { apiKey: '' }, { apiKey: null }, { apiKey: 'x'.repeat(501) }, { apiKey: 'x', model: 'm' }])(
    'refuses %j and keeps the key',
    async (body) => {
      const { id } = await createAgent(service, organization, { provider });
      const refused = await rotate<ErrorBody>(id, body);
      expect([refused.status, refused.body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
    },
  );

  it('checks If-Match, needs manageAgents and an agent of the organization', async () => {
    const { id } = await createAgent(service, organization, { provider });
    const stale = await rotate<ErrorBody>(id, { apiKey: 'sk-2' }, organization.key, '"2"');
    expect([stale.status, stale.body.code]).toEqual([409, 'version_conflict']);
    const { key } = await organization.keyWith(['chat']);
    expect((await rotate<ErrorBody>(id, { apiKey: 'sk-2' }, key)).body.code).toBe('forbidden_by_key_role');
    expect((await rotate(id, { apiKey: 'sk-2' }, (await service.organization()).key)).status).toBe(404);
  });
});
