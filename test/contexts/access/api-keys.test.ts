import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { ProbeApp } from './probe-app.js';

let probe: ProbeApp;
beforeAll(async () => {
  probe = await ProbeApp.start();
});
afterAll(() => probe.close());

describe('the API-key routes', () => {
  it('issue a key that is shown once and works, list it, and revoke it', async () => {
    const { id, agentId, key } = await probe.tenant();
    const admin = await key();
    const created = await probe.send('POST', '/v1/api-keys', {
      key: admin,
      body: {
        name: 'CI',
        capabilities: ['chat'],
        agentIds: [agentId.toUpperCase()],
        expiresAt: '2999-01-01T00:00:00Z',
      },
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(String),
      name: 'CI',
      key: expect.stringMatching(/^ak_[0-9A-Za-z]{49}$/),
      last4: created.body.key.slice(-4),
      capabilities: ['chat'],
      agentIds: [agentId],
      createdAt: expect.stringMatching(/^\d{4}-.*T.*\.\d{3}Z$/),
      expiresAt: '2999-01-01T00:00:00.000Z',
    });
    const { key: issued, ...shown } = created.body;
    expect(await probe.send('GET', '/v1/probe/read', { key: issued })).toMatchObject({
      status: 200,
      body: { organizationId: id },
    });

    const { apiKeys } = (await probe.send('GET', '/v1/api-keys', { key: admin })).body;
    expect(apiKeys).toHaveLength(2);
    expect(apiKeys[1]).toEqual({ ...shown, lastUsedAt: null });
    expect(JSON.stringify(apiKeys)).not.toContain(issued);

    expect((await probe.send('DELETE', `/v1/api-keys/${shown.id}`, { key: admin })).status).toBe(204);
    expect((await probe.send('GET', '/v1/probe/read', { key: issued })).status).toBe(401);
    expect((await probe.send('DELETE', `/v1/api-keys/${shown.id}`, { key: admin })).status).toBe(404);
    expect((await probe.send('GET', '/v1/api-keys', { key: admin })).body.apiKeys).toHaveLength(1);
  });

  it('refuse a capability that the calling key lacks, and store nothing', async () => {
    const { key } = await probe.tenant();
    const limited = await key('chat,manageApiKeys');
    const answer = await probe.send('POST', '/v1/api-keys', {
      key: limited,
      body: { name: 'x', capabilities: ['chat', 'manageAgents'] },
    });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });
    expect((await probe.send('GET', '/v1/api-keys', { key: limited })).body.apiKeys).toHaveLength(1);
  });

  it.each([
    ['no name', { capabilities: ['chat'] }, 'name'],
    ['an empty name', { name: '', capabilities: ['chat'] }, 'name'],
    ['a long name', { name: 'x'.repeat(256), capabilities: ['chat'] }, 'name'],
    ['no capability', { name: 'x', capabilities: [] }, 'capabilities'],
    ['an unknown capability', { name: 'x', capabilities: ['fly'] }, 'capabilities'],
    ['an empty allowlist', { name: 'x', capabilities: ['chat'], agentIds: [] }, 'agentIds'],
    ['a malformed agent id', { name: 'x', capabilities: ['chat'], agentIds: ['x'] }, 'agentIds'],
    ['an unknown agent', { name: 'x', capabilities: ['chat'], agentIds: [newId()] }, 'agentIds'],
    ['an end in the past', { name: 'x', capabilities: ['chat'], expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt'],
    [
      'an end after the year 9999',
      { name: 'x', capabilities: ['chat'], expiresAt: '9999-12-31T23:59:59-00:01' },
      'expiresAt',
    ],
    ['an end that is no time', { name: 'x', capabilities: ['chat'], expiresAt: 'tomorrow' }, 'expiresAt'],
    ['an unknown field', { name: 'x', capabilities: ['chat'], admin: true }, 'admin'],
  ])('refuse %s, naming the field', async (_what, body, field) => {
    const key = await (await probe.tenant()).key();
    expect(await probe.send('POST', '/v1/api-keys', { key, body })).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', error: 'bad_request', message: expect.stringContaining(field) },
    });
  });

  it('treat an agent of another organization as an unknown one', async () => {
    const theirs = await probe.tenant();
    const key = await (await probe.tenant()).key();
    const body = { name: 'x', capabilities: ['chat'], agentIds: [theirs.agentId] };
    expect((await probe.send('POST', '/v1/api-keys', { key, body })).status).toBe(400);
  });

  it('list and revoke only keys of the calling organization', async () => {
    const key = await (await probe.tenant()).key();
    const theirs = await probe.cli(`key create --org ${(await probe.tenant()).id} --capabilities chat`);
    expect((await probe.send('DELETE', `/v1/api-keys/${theirs.id}`, { key })).status).toBe(404);
    expect((await probe.send('GET', '/v1/probe/read', { key: theirs.key! })).status).toBe(200);
    expect((await probe.send('DELETE', '/v1/api-keys/x', { key })).status).toBe(400);
  });

  it('refuse keys without manageApiKeys or with an allowlist', async () => {
    const { agentId, key } = await probe.tenant();
    expect(await probe.send('GET', '/v1/api-keys', { key: await key('chat,manageAgents') })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_key_role' },
    });
    expect(await probe.send('GET', '/v1/api-keys', { key: await key('manageApiKeys', agentId) })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_org_endpoint_for_scoped_key' },
    });
  });
});
