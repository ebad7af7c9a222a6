import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { type Answer, useService, type TestOrganization } from '../../support/harness.js';
import { StoppedClock } from '../../support/shifted-clock.js';
import { statementsOf } from '../../support/statements.js';
import { startTwoProcesses } from './two-processes.js';

const CHAT = ['chat'];
const EVERYTHING = ['chat', 'manageAgents', 'manageApiKeys'];

const clock = new StoppedClock();
const service = useService({ clock });

interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly last4: string;
  readonly agentIds: readonly string[] | null;
}

function create(key: string, body: object): Promise<Answer<CreatedKey & { code?: string }>> {
  return service.http('POST', '/v1/api-keys', { key, body: { name: 'k', ...body } });
}

/** A route that needs only a key. */
async function status(key: string, path = '/v1/models'): Promise<number> {
  return (await service.http('GET', path, { key })).status;
}

/** A well-formed key that was never issued. */
async function invented(organization: TestOrganization): Promise<string> {
  const { id, key } = await organization.keyWith(CHAT);
  await service.database.query('delete from api_keys where id = $1', [id]);
  return key;
}

describe('a key created over HTTP', () => {
  it('works at once, is shown once, and is not stored', async () => {
    const { key } = await service.organization();
    const { status: created, body, headers } = await create(key, { capabilities: CHAT });
    expect(created).toBe(201);
    expect(headers.get('content-type')).toContain('application/json');
    expect(await status(body.key)).toBe(200);
    const listed = await service.http('GET', '/v1/api-keys', { key });
    expect(listed.text).toContain(body.id);
    expect(listed.text).not.toContain(body.key);
    const [stored] = await service.database.query<{ all: string }>(
      'select string_agg(k::text, $1) as all from api_keys k',
      [','],
    );
    expect(stored?.all).toContain(body.id);
    expect(stored?.all).not.toContain(body.key.slice(3, 30));
  });

  it('never has a capability that its issuer lacks, through any number of keys', async () => {
    const { key } = await (await service.organization()).keyWith(['chat', 'manageApiKeys']);
    expect(await create(key, { capabilities: EVERYTHING })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_key_role' },
    });
    const grandchild = await create((await create(key, { capabilities: ['manageApiKeys'] })).body.key, {
      capabilities: CHAT,
    });
    expect(grandchild).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });
  });

  it('cannot be issued for every agent by a key with an allowlist', async () => {
    const organization = await service.organization();
    const agentId = await service.agent(organization.key);
    const { body } = await create(organization.key, { capabilities: EVERYTHING, agentIds: [agentId.toUpperCase()] });
    expect(body.agentIds).toEqual([agentId]);
    for (const [method, path] of [
      ['POST', '/v1/api-keys'],
      ['GET', '/v1/api-keys'],
      ['DELETE', `/v1/api-keys/${body.id}`],
      ['POST', '/v1/agents'],
    ] as const) {
      expect(await service.http(method, path, { key: body.key, ...(method === 'POST' && { body: {} }) })).toMatchObject(
        {
          status: 403,
          body: { code: 'forbidden_org_endpoint_for_scoped_key' },
        },
      );
    }
  });

  it('gives access to the agents on its allowlist, and not even to the names of others', async () => {
    const organization = await service.organization();
    const { key } = organization;
    const [allowed, hidden] = [
      await service.agent(key, { name: 'Allowed' }),
      await service.agent(key, { name: 'Hidden' }),
    ];
    const [, hiddenThread] = [await service.thread(key, allowed), await service.thread(key, hidden)];
    const { key: limited } = await organization.keyWith(EVERYTHING, [allowed]);
    expect(await status(limited, `/v1/agents/${allowed}`)).toBe(200);
    const refusals = [
      `/v1/agents/${hidden}`,
      `/v1/agents/${hidden}/sections`,
      `/v1/agents/${hidden}/traces`,
      `/v1/threads/${hiddenThread}`,
    ];
    for (const path of refusals) {
      expect(await service.http('GET', path, { key: limited })).toMatchObject({
        status: 403,
        body: { code: 'forbidden_by_agent_allowlist' },
      });
    }
    for (const path of ['/v1/assistants', '/v1/models', '/v1/threads', `/v1/agents?ids=${allowed},${hidden}`]) {
      const { text } = await service.http('GET', path, { key: limited });
      expect({ path, allowed: text.includes(allowed), hidden: text.includes(hidden) }).toEqual({
        path,
        allowed: true,
        hidden: false,
      });
    }
  });

  it('stops working when it expires', async () => {
    const { key } = await service.organization();
    const expiresAt = new Date(clock.now().getTime() + 60_000).toISOString();
    const { body } = await create(key, { capabilities: CHAT, expiresAt });
    expect(await status(body.key)).toBe(200);
    clock.moveOn(60_000);
    expect(await service.http('GET', '/v1/models', { key: body.key })).toMatchObject({
      status: 401,
      body: { code: 'api_key_invalid' },
    });
    expect(await create(key, { capabilities: CHAT, expiresAt })).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION' },
    });
  });

  it('stops working when it is revoked, also by itself, and is no longer listed', async () => {
    const { key } = await service.organization();
    const { body } = await create(key, { capabilities: ['manageApiKeys'] });
    expect((await service.http('DELETE', `/v1/api-keys/${body.id}`, { key: body.key })).status).toBe(204);
    expect(await status(body.key)).toBe(401);
    expect((await service.http('GET', '/v1/api-keys', { key })).text).not.toContain(body.id);
    expect((await service.http('DELETE', `/v1/api-keys/${body.id}`, { key })).status).toBe(404);
  });
});

describe('the statements for a credential', () => {
  it('are none for a key in use', async () => {
    // The guard refuses the request, so the route itself has no statements.
    const { key } = await (await service.organization()).keyWith(CHAT, [newId()]);
    const use = (): Promise<number> => status(key, '/v1/ai-gateway');
    expect(await use()).toBe(403);
    const statements = await statementsOf(service.database, async () => {
      expect(new Set(await Promise.all(Array.from({ length: 50 }, use)))).toEqual(new Set([403]));
    });
    expect(statements).toEqual([]);
  });

  it('are one for many concurrent requests with a key that was not in use', async () => {
    const { key } = await (await service.organization()).keyWith(CHAT, [newId()]);
    clock.moveOn(10_000);
    const statements = await statementsOf(service.database, () =>
      Promise.all(Array.from({ length: 50 }, () => status(key, '/v1/ai-gateway'))),
    );
    expect(statements).toHaveLength(1);
  });

  it('are none for a text that is not a key, or has a wrong checksum', async () => {
    const { key } = await service.organization();
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const texts = [wrong, key.slice(0, -1), `${key}0`, key.toLowerCase(), 'ak_', "ak_' or 1=1 --", 'x'.repeat(9_000)];
    const statements = await statementsOf(service.database, async () => {
      for (const text of texts) expect(await status(text)).toBe(401);
    });
    expect(statements).toEqual([]);
  });

  it('are one for an unknown key, however often it is sent', async () => {
    const key = await invented(await service.organization());
    const statements = await statementsOf(service.database, async () => {
      for (let times = 0; times < 5; times += 1) expect(await status(key)).toBe(401);
    });
    expect(statements).toHaveLength(1);
  });
});

describe('credentials that fail', () => {
  const from = async (remoteAddress: string, key?: string) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const answer = await service.app.inject({ method: 'GET', url: '/v1/models', remoteAddress, headers });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<Record<string, unknown>>() };
  };
  const failing = async (address: string, times: number, key = 'ak_nonsense'): Promise<number[]> =>
    (await Promise.all(Array.from({ length: times }, () => from(address, key)))).map((answer) => answer.status);

  it('get 429 with Retry-After after exactly 60 in a minute, and later 401 again', async () => {
    const address = '203.0.113.1';
    const answers = await failing(address, 200);
    expect(answers.filter((one) => one === 401)).toHaveLength(60);
    expect(answers.filter((one) => one === 429)).toHaveLength(140);
    const refused = await from(address, 'ak_nonsense');
    expect(refused.body).toEqual({
      statusCode: 429,
      code: 'rate_limited',
      error: 'too_many_requests',
      message: expect.stringMatching(/60/),
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    clock.moveOn(61_000);
    expect(await failing(address, 1)).toEqual([401]);
  });

  it('of every kind count, separately for each address', async () => {
    const organization = await service.organization();
    const revoked = await organization.keyWith(CHAT);
    await service.cli('key', 'revoke', revoked.id);
    const wrong = `${organization.key.slice(0, -1)}${organization.key.endsWith('0') ? '1' : '0'}`;
    const address = '203.0.113.2';
    for (const key of [revoked.key, wrong, await invented(organization)])
      expect(new Set(await failing(address, 20, key))).toEqual(new Set([401]));
    expect(await failing(address, 1, revoked.key)).toEqual([429]);
    expect(await failing('203.0.113.3', 1, revoked.key)).toEqual([401]);
  });

  it('do not affect requests from the same address with a valid key in use, or without a key', async () => {
    const { key } = await service.organization();
    const address = '203.0.113.4';
    expect((await from('203.0.113.14', key)).status).toBe(200);
    await failing(address, 100);
    expect((await from(address, key)).status).toBe(200);
    expect(await from(address)).toMatchObject({ status: 401, body: { code: 'api_key_missing' } });
    const open = await service.app.inject({
      method: 'GET',
      url: '/v1/openapi.json',
      remoteAddress: address,
      headers: { authorization: 'Bearer ak_nonsense' },
    });
    expect(open.statusCode).toBe(200);
  });

  it('are counted together for all addresses of one subscriber', async () => {
    await failing('2001:db8:0:1::1', 60);
    expect(await failing('2001:db8:0:1:ffff::2', 1)).toEqual([429]);
    expect(await failing('2001:db8:0:2::1', 1)).toEqual([401]);
    await failing('::ffff:203.0.113.5', 60);
    expect(await failing('203.0.113.5', 1)).toEqual([429]);
  });
});

describe('a revocation', () => {
  it('takes effect at once in the process that made it, and within 5 seconds in every other', async () => {
    const time = new StoppedClock();
    const { here, there, key, close } = await startTwoProcesses(time);
    const call = async (
      app: typeof here,
      method: 'GET' | 'POST' | 'DELETE',
      url: string,
      credential: string,
      payload?: object,
    ) => {
      const answer = await app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${credential}` },
        ...(payload && { payload }),
      });
      return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json<Record<string, string>>() };
    };
    const { body } = await call(here, 'POST', '/v1/api-keys', key, { name: 'k', capabilities: CHAT });
    const { id = '', key: made = '' } = body;
    const works = async (app: typeof here): Promise<number> => (await call(app, 'GET', '/v1/models', made)).status;
    expect([await works(here), await works(there)]).toEqual([200, 200]);
    expect((await call(here, 'DELETE', `/v1/api-keys/${id}`, key)).status).toBe(204);
    expect(await works(here)).toBe(401);
    time.moveOn(5_000);
    expect(await works(there)).toBe(401);
    await close();
  });
});
