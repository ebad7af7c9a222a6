import { beforeEach, describe, expect, it } from '@jest/globals';
import { CAPABILITIES } from '../../../src/access/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { useService } from '../../support/harness.js';
import { type Body, customMcp, Integrations, SECRET, workflow } from './support.js';

const EXISTS = {
  statusCode: 409,
  code: 'integration_exists',
  error: 'conflict',
  message: expect.stringContaining('Tickets'),
};
const service = useService();
let integrations: Integrations;
let otherAgent: { readonly agentId: string };

beforeEach(async () => {
  integrations = await Integrations.start(service);
  otherAgent = { agentId: integrations.otherAgentId };
});

/** The value of the secret header. */
const withSecret = (value: string): Body => ({ httpHeaders: { ...headers(), 'X-Key': { type: 'secret', value } } });
const headers = (): Body => customMcp()['httpHeaders'] as Body;

describe('an integration of the organization', () => {
  it.each([
    ['a custom server', customMcp()],
    ['a workflow', workflow()],
  ])('is one record, attached to a second agent whose body agrees with it: %s', async (_what, body) => {
    const first = await integrations.created(body);
    const second = await integrations.create(body, otherAgent);
    expect([second.status, second.body]).toEqual([201, first]);
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 2 });
    expect((await integrations.list(otherAgent)).body).toEqual({ integrations: [first] });
  });

  it('agrees with a body with header names in another case and excluded tools repeated or in another order', async () => {
    const first = await integrations.created(customMcp({ excludedTools: ['a', 'b'] }));
    const body = customMcp({
      auth: { type: 'static', headerKey: 'x-key' },
      httpHeaders: { 'x-team': headers()['X-Team'], 'x-key': headers()['X-Key'] },
      excludedTools: ['b', 'a', 'b'],
    });
    const second = await integrations.create(body, otherAgent);
    expect([second.status, second.body]).toEqual([201, first]);
  });

  it.each<[string, Body]>([
    ['address', { url: 'http://127.0.0.1:9/other' }],
    ['transport', { transportType: 'sse' }],
    ['auth', { auth: { type: 'none' } }],
    ['excluded tools', { excludedTools: [] }],
    ['secret', withSecret('another')],
    ['length of a secret', withSecret(`${SECRET}x`)],
    ['plain header', { httpHeaders: { ...headers(), 'X-Team': { type: 'plain_text', value: 'sales' } } }],
    ['kind of header', { httpHeaders: { ...headers(), 'X-Team': { type: 'secret', value: 'support' } } }],
    ['further header', { httpHeaders: { ...headers(), 'X-More': { type: 'secret', value: 'more' } } }],
  ])('is not attached by a body with another %s', async (_what, changes) => {
    const first = await integrations.created(customMcp());
    const refused = await integrations.create(customMcp(changes), otherAgent);
    expect([refused.status, refused.body]).toEqual([409, EXISTS]);
    expect(refused.text).not.toContain('canary');
    expect((await integrations.read(first.id)).body).toEqual(first);
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 1, secrets: 1 });
  });

  it('is not attached to the same agent again, with any body', async () => {
    await integrations.created(customMcp());
    expect((await integrations.create(customMcp())).body).toEqual(EXISTS);
    expect((await integrations.create(customMcp(withSecret('another')))).body).toEqual(EXISTS);
    expect(await integrations.rows()).toMatchObject({ tool_integration_agents: 1 });
  });

  it('is separate from integrations of the same name of another type or organization', async () => {
    await integrations.created(customMcp({ app: 'onboarding' }));
    expect((await integrations.create(workflow())).status).toBe(201);
    const stranger = await Integrations.start(service);
    const theirs = await stranger.create(customMcp({ app: 'onboarding', ...withSecret('theirs') }));
    expect(theirs.status).toBe(201);
    expect(await stranger.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 1, secrets: 1 });
  });

  it('changes for all agents at once', async () => {
    const { id } = await integrations.created(customMcp());
    await integrations.created(customMcp(), otherAgent);
    const changed = await integrations.put(id, customMcp({ excludedTools: ['x'] }), otherAgent);
    expect((await integrations.read(id)).body).toEqual(changed.body);
    expect(changed.body.excludedTools).toEqual(['x']);
  });
});

describe('a key with an allowlist', () => {
  const forbidden = {
    statusCode: 403,
    code: 'forbidden_by_agent_allowlist',
    error: 'forbidden',
    message: expect.stringContaining('Other agents'),
  };
  const limitedKey = async (agentId: string): Promise<string> =>
    (await integrations.organization.keyWith(CAPABILITIES, [agentId])).key;

  it('can change an integration that only its agents use', async () => {
    const key = await limitedKey(integrations.agentId);
    const { id } = await integrations.created(customMcp(), { key });
    expect((await integrations.put(id, customMcp({ excludedTools: [] }), { key })).status).toBe(200);
  });

  it('can attach and detach, but not change, an integration that another agent uses too', async () => {
    const key = await limitedKey(integrations.otherAgentId);
    const as = { ...otherAgent, key };
    const first = await integrations.created(customMcp());
    expect((await integrations.create(customMcp(), as)).body).toEqual(first);
    expect((await integrations.read(first.id, as)).body).toEqual(first);
    for (const body of [customMcp({ excludedTools: [] }), customMcp(), customMcp({ app: 'Other' })]) {
      const refused = await integrations.put(first.id, body, as);
      expect([refused.status, refused.body]).toEqual([403, forbidden]);
    }
    expect((await integrations.remove(first.id, as)).status).toBe(204);
    expect((await integrations.read(first.id)).body).toEqual(first);
    expect((await integrations.put(first.id, customMcp(), as)).status).toBe(404);
    const all = await integrations.organization.keyWith(CAPABILITIES, [
      integrations.agentId,
      integrations.otherAgentId,
    ]);
    await integrations.created(customMcp(), otherAgent);
    expect((await integrations.put(first.id, customMcp({ excludedTools: [] }), { key: all.key })).status).toBe(200);
  });

  it('has no access to integrations of other agents', async () => {
    const key = await limitedKey(integrations.otherAgentId);
    const { id } = await integrations.created(customMcp());
    const answers = [
      await integrations.list({ key }),
      await integrations.read(id, { key }),
      await integrations.put(id, customMcp(), { key }),
      await integrations.remove(id, { key }),
      await integrations.test(id, { key }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    const { key: reader } = await integrations.organization.keyWith(['chat']);
    expect((await integrations.read(id, { key: reader })).status).toBe(200);
    expect((await integrations.put(id, customMcp(), { key: reader })).body).toMatchObject({
      code: 'forbidden_by_key_role',
    });
    expect((await integrations.test(id, { key: reader })).status).toBe(403);
  });
});

describe('a caller without permission to change an integration', () => {
  it('is refused before the body is validated', async () => {
    const first = await integrations.created(customMcp());
    await integrations.created(customMcp(), otherAgent);
    const { key } = await integrations.organization.keyWith(CAPABILITIES, [integrations.agentId]);
    const stranger = await Integrations.start(service);
    const elsewhere = await stranger.created(customMcp());
    const own = await integrations.created(workflow(), otherAgent);
    const wrong = { nonsense: true };
    for (const ask of ['put', 'authorize'] as const) {
      const shared = await integrations[ask](first.id, wrong, { key });
      expect([shared.status, shared.body]).toMatchObject([403, { code: 'forbidden_by_agent_allowlist' }]);
      const absent = await Promise.all([newId(), elsewhere.id, own.id].map((id) => integrations[ask](id, wrong)));
      expect(absent.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect(new Set(absent.map(({ text }) => text)).size).toBe(1);
      const allowed = await integrations[ask](first.id, wrong);
      expect([allowed.status, allowed.body]).toMatchObject([400, { code: 'FST_ERR_VALIDATION' }]);
      const noId = await integrations[ask]('nonsense', customMcp());
      expect([noId.status, noId.body]).toMatchObject([400, { code: 'FST_ERR_VALIDATION' }]);
    }
  });
});

describe('an integration that the agent does not have', () => {
  it('is not found, even if another agent or another organization has it', async () => {
    const { id } = await integrations.created(customMcp());
    const stranger = await Integrations.start(service);
    const absent = { statusCode: 404, error: 'not_found', message: expect.any(String) };
    for (const [who, as] of [
      [integrations, otherAgent],
      [stranger, {}],
    ] as const) {
      const answers = [
        await who.read(id, as),
        await who.put(id, customMcp(), as),
        await who.remove(id, as),
        await who.test(id, as),
      ];
      for (const { status, body } of answers) expect([status, body]).toEqual([404, absent]);
    }
    expect((await integrations.read(id)).status).toBe(200);
  });
});
