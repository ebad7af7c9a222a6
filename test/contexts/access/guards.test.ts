import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { Access, pathResource, RouteDeclarations } from '../../../src/access/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { ProbeApp } from './probe-app.js';

@Controller('v1/lost')
class LostController {
  @Get(':id')
  @Access({ scope: 'none', resource: pathResource('unicorn', 'id') })
  lost(): object {
    return {};
  }
}

let probe: ProbeApp;
beforeAll(async () => {
  probe = await ProbeApp.start();
});
afterAll(() => probe.close());

const BUDGET = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];

describe('a credential', () => {
  it.each([
    ['none', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a scheme without a key', { authorization: 'Bearer ' }],
  ])('that is missing (%s) answers 401 api_key_missing', async (_what, headers) => {
    const answer = await probe.send('GET', '/v1/probe/read', { headers });
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      statusCode: 401,
      code: 'api_key_missing',
      error: 'unauthorized',
      message: expect.any(String),
    });
  });

  it.each([
    ['malformed', 'ak_nonsense'],
    ['of another kind', 'eyJhbGciOiJFZERTQSJ9.e30'],
    ['very long', 'x'.repeat(5_000)],
  ])('that is not a key of the service (%s) answers 401 api_key_invalid', async (_what, key) => {
    expect(await probe.send('GET', '/v1/probe/read', { key })).toMatchObject({
      status: 401,
      body: { code: 'api_key_invalid' },
    });
  });

  it('that is revoked answers 401', async () => {
    const { id } = await probe.tenant();
    const { id: keyId, key } = await probe.cli(`key create --org ${id} --capabilities chat`);
    expect(await probe.send('GET', '/v1/probe/read', { key })).toMatchObject({
      status: 200,
      body: { organizationId: id },
    });
    await probe.cli(`key revoke ${keyId}`);
    expect(await probe.send('GET', '/v1/probe/read', { key })).toMatchObject({
      status: 401,
      body: { code: 'api_key_invalid' },
    });
  });

  it('may have the scheme in any case', async () => {
    const key = await (await probe.tenant()).key();
    expect((await probe.send('GET', '/v1/probe/read', { headers: { authorization: `bEARER  ${key}` } })).status).toBe(
      200,
    );
  });

  it('is checked before the body is read', async () => {
    const answer = await probe.send('POST', '/v1/probe/chat', { body: '{ not json' });
    expect(answer).toMatchObject({ status: 401, body: { code: 'api_key_missing' } });
  });

  it('is not needed for public routes, unknown routes and preflights', async () => {
    expect((await probe.send('GET', '/v1/probe/open')).status).toBe(200);
    expect((await probe.send('GET', '/v1/probe/nowhere')).status).toBe(404);
    expect((await probe.send('GET', '/v1/probe/chat')).status).toBe(404);
    expect(
      (await probe.send('OPTIONS', '/v1/probe/chat', { headers: { origin: 'https://a.test' } })).status,
    ).toBeLessThan(300);
  });
});

describe('a route without a declaration', () => {
  it('refuses every request, and is listed', async () => {
    const key = await (await probe.tenant()).key();
    expect((await probe.send('GET', '/v1/probe/undeclared', { key })).status).toBe(403);
    expect((await probe.send('GET', '/v1/probe/undeclared')).status).toBe(403);
    expect(probe.app.get(RouteDeclarations).undeclared()).toEqual(['ProbeController.undeclared']);
  });
});

describe('the guard', () => {
  it('refuses requests that were not authenticated', async () => {
    const unauthenticated = await ProbeApp.start({ authenticate: false });
    const key = await (await unauthenticated.tenant()).key();
    const status = async (path: string) => (await unauthenticated.send('GET', `/v1/probe/${path}`, { key })).status;
    expect(await status('undeclared')).toBe(403);
    expect(await status('read')).toBe(500);
    expect(await status('open')).toBe(200);
    await unauthenticated.close();
  });
});

describe('the order of checks', () => {
  it('is rate limit, capability, resource, allowlist, schema: the first failure is reported', async () => {
    const { agentId, threadId, key, id } = await probe.tenant();
    const otherAgent = probe.agents.add(id, newId());
    const url = `/v1/probe/threads/${threadId}/runs`;
    const missing = `/v1/probe/threads/${newId()}/runs`;
    const wrong = { body: { text: 1 } };
    const lacking = await key('manageAgents', otherAgent);
    const excluded = await key('chat', otherAgent);
    const good = await key('chat', agentId);
    const used = await probe.tenant();
    await probe.exhaust(used.id, null);
    expect(
      await probe.send('POST', missing, { key: await used.key('manageAgents', otherAgent), ...wrong }),
    ).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
    expect(await probe.send('POST', missing, { key: lacking, ...wrong })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_key_role' },
    });
    expect((await probe.send('POST', missing, { key: excluded, ...wrong })).status).toBe(404);
    expect(await probe.send('POST', url, { key: excluded, ...wrong })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_agent_allowlist' },
    });
    expect(await probe.send('POST', url, { key: good, ...wrong })).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION' },
    });
    expect(await probe.send('POST', url, { key: good, body: { text: 'hi' } })).toMatchObject({
      status: 200,
      body: { agentId },
    });
  });

  it('starts with the readability of the body', async () => {
    const { id, key } = await probe.tenant();
    await probe.exhaust(id, null);
    const answer = await probe.send('POST', '/v1/probe/chat', { key: await key('manageAgents'), body: '{ not json' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
  });

  it('has the capability before the organization level', async () => {
    const { agentId, key } = await probe.tenant();
    const post = async (sent: string) => probe.send('POST', '/v1/probe/organization', { key: sent });
    expect(await post(await key('chat', agentId))).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_key_role' },
    });
    expect(await post(await key('manageAgents', agentId))).toMatchObject({
      status: 403,
      body: { code: 'forbidden_org_endpoint_for_scoped_key' },
    });
    expect((await post(await key('manageAgents'))).status).toBe(201);
  });
});

describe('a resource', () => {
  it('of another organization has exactly the response of one that does not exist', async () => {
    const mine = await probe.tenant();
    const theirs = await probe.tenant();
    const key = await mine.key();
    const invented = newId();
    const [foreign, absent] = await Promise.all([
      probe.send('GET', `/v1/probe/agents/${theirs.agentId}`, { key }),
      probe.send('GET', `/v1/probe/agents/${invented}`, { key }),
    ]);
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, message: '' }).toEqual({ ...absent.body, message: '' });
    expect(foreign.body.message.replace(theirs.agentId, invented)).toBe(absent.body.message);
    const chat = await probe.send('POST', '/v1/probe/chat', {
      key,
      body: { assistant_id: theirs.agentId, text: 'hi' },
    });
    expect(chat.status).toBe(404);
  });

  it('is found in any spelling of its id, looked up once and passed to the route', async () => {
    const { agentId, key } = await probe.tenant();
    const credential = await key();
    probe.agents.lookups = [];
    const answer = await probe.send('POST', '/v1/probe/chat', {
      key: credential,
      body: { assistant_id: agentId.toUpperCase(), text: 'hi' },
    });
    expect(answer).toMatchObject({ status: 200, body: { agentId } });
    expect(probe.agents.lookups).toEqual([agentId]);
  });

  it.each(['not-a-uuid', '00000000', '%27'])('with the path id %s answers 400', async (id) => {
    const key = await (await probe.tenant()).key();
    expect(await probe.send('GET', `/v1/probe/agents/${id}`, { key })).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', error: 'bad_request', message: expect.stringContaining('agentId') },
    });
  });

  it.each([[undefined], [7], [{ id: 1 }], [['a']], ['not-a-uuid']])(
    'that a body names as %j is left to its schema',
    async (id) => {
      const key = await (await probe.tenant()).key();
      probe.agents.lookups = [];
      const answer = await probe.send('POST', '/v1/probe/chat', { key, body: { assistant_id: id, text: 'hi' } });
      expect(answer.status).toBe(typeof id === 'string' || id === undefined ? 200 : 400);
      expect(probe.agents.lookups).toEqual([]);
    },
  );
});

describe('the chat budget', () => {
  it('is in the headers of every response of its routes, whatever the outcome, and of no other', async () => {
    const { threadId, agentId, key } = await probe.tenant();
    const url = `/v1/probe/threads/${threadId}/runs`;
    const good = await key();
    const answers = [
      await probe.send('POST', url, { key: good, body: { text: 'hi' } }),
      await probe.send('POST', url, { key: good, body: {} }),
      await probe.send('POST', url, { key: await key('manageAgents'), body: { text: 'hi' } }),
      await probe.send('POST', `/v1/probe/threads/${newId()}/runs`, { key: good, body: { text: 'hi' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 403, 404]);
    for (const { headers } of answers)
      expect(BUDGET.map((name) => Number(headers[name]) > 0)).toEqual([true, true, true]);
    const other = await probe.send('GET', `/v1/probe/agents/${agentId}`, { key: good });
    expect(BUDGET.some((name) => name in other.headers)).toBe(false);
  });

  it('is that of organization and agent on all routes; requests without an agent share one', async () => {
    const { id, threadId, agentId, key } = await probe.tenant();
    const credential = await key();
    const remaining = async (url: string, body: object) => {
      const { headers } = await probe.send('POST', url, { key: credential, body: { text: 'hi', ...body } });
      return Number(headers['ratelimit-remaining']);
    };
    const thread = `/v1/probe/threads/${threadId}/runs`;
    expect(await remaining(thread, {})).toBe(599);
    expect(await remaining('/v1/probe/chat', { assistant_id: agentId })).toBe(598);
    expect(await remaining('/v1/probe/chat', { assistant_id: newId() })).toBe(599);
    expect(await remaining(`/v1/probe/threads/${newId()}/runs`, {})).toBe(598);
    expect(await remaining('/v1/probe/threads/x/runs', {})).toBe(597);
    expect(await remaining('/v1/probe/chat', { assistant_id: probe.agents.add(id, newId()) })).toBe(599);
    expect(await remaining(thread, {})).toBe(597);
  });

  it('causes 429 with Retry-After when it is used up', async () => {
    const { id, agentId, threadId, key } = await probe.tenant();
    await probe.exhaust(id, agentId);
    const answer = await probe.send('POST', `/v1/probe/threads/${threadId}/runs`, {
      key: await key(),
      body: { text: 'hi' },
    });
    expect(answer.status).toBe(429);
    expect(answer.body).toEqual({
      statusCode: 429,
      code: 'rate_limited',
      error: 'too_many_requests',
      message: expect.any(String),
    });
    expect(answer.headers).toMatchObject({ 'ratelimit-limit': '600', 'ratelimit-remaining': '0' });
    for (const name of ['ratelimit-reset', 'retry-after']) {
      expect(Number(answer.headers[name])).toBeGreaterThan(0);
      expect(Number(answer.headers[name])).toBeLessThanOrEqual(60);
    }
  });
});

describe('the start', () => {
  it('fails when a route names a resource kind that no context looks up', async () => {
    await expect(ProbeApp.start({ controllers: [LostController] })).rejects.toThrow(/LostController\.lost.*'unicorn'/);
  });
});

describe('the OpenAPI document', () => {
  it('states the scope of each operation, and whether it accepts a session pass', async () => {
    const { paths } = (await probe.send('GET', '/v1/openapi.json')).body;
    expect(paths['/v1/probe/read'].get['x-scope']).toBe('none');
    expect(paths['/v1/api-keys'].post['x-scope']).toBe('manageApiKeys');
    expect(paths['/v1/probe/threads/{threadId}/runs'].post).toMatchObject({
      'x-scope': 'chat',
      'x-session-pass': true,
    });
    expect(paths['/v1/probe/chat'].post).not.toHaveProperty('x-session-pass');
  });
});
