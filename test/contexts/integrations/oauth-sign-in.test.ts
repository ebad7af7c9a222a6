import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RemoveExpiredSignIns } from '../../../src/integrations/jobs/remove-expired-sign-ins.job.js';
import { IntegrationGrants } from '../../../src/integrations/oauth/integration-grants.js';
import type { ProtectedServer } from '../../../src/integrations/oauth/protected-servers.js';
import { Canary } from '../../support/canary.js';
import { until, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import {
  addIntegration,
  authorizationUrl as urlOf,
  authorize as authorizeAt,
  grantStateOf,
  moveIntegration,
  newOAuthIntegration,
  type OAuthIntegration,
  readIntegration,
  removeIntegration,
} from '../../support/oauth-integrations.js';
import { OAuthToolServer } from '../../support/oauth-tool-server.js';

const REDIRECT = 'https://app.example/done?from=tools';
const MINUTE = 60_000;

const tools = await OAuthToolServer.start();
const clock = new ManualClock();
const service = useService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${tools.port}` } });

let canary: Canary;

beforeAll(async () => {
  canary = await Canary.start();
});
beforeEach(() => {
  tools.reset();
});
afterAll(async () => {
  await tools.close();
  await canary.close();
});

const site = (url = tools.url): Promise<OAuthIntegration> => newOAuthIntegration(service, url);
const authorize = (at: OAuthIntegration, body: object = { redirectUrl: REDIRECT }) => authorizeAt(service, at, body);
const authorizationUrl = (at: OAuthIntegration): Promise<string> => urlOf(service, at, { redirectUrl: REDIRECT });

/** A browser visits the callback. */
function visit(url: string): Promise<Response> {
  return fetch(url, { redirect: 'manual' });
}

async function page(url: string): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await visit(url);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const stateOf = (server: ProtectedServer): Promise<string> => grantStateOf(service, server);

/** The callback of a sign-in with other parameters. */
function changed(callback: string, parameters: Readonly<Record<string, string | null>>): string {
  const url = new URL(callback);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

describe('a sign-in', () => {
  it('leads the browser to the server and back, and stores a grant', async () => {
    const at = await site();
    const url = new URL(await authorizationUrl(at));
    expect(await stateOf(at.server)).toBe('none');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${service.baseUrl}/v1/oauth/mcp/callback`,
      resource: tools.url,
    });
    expect(Buffer.from(url.searchParams.get('state') ?? '', 'base64url')).toHaveLength(32);

    const response = await visit(await tools.consent(url.href));

    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(REDIRECT);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await stateOf(at.server)).toBe('authorized');
    expect(tools.registrations).toMatchObject([
      {
        redirect_uris: [`${service.baseUrl}/v1/oauth/mcp/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ]);
  });

  it('is not completed by a HEAD request', async () => {
    const callback = await tools.consent(await authorizationUrl(await site()));
    expect((await fetch(callback, { method: 'HEAD', redirect: 'manual' })).status).toBe(200);
    expect((await visit(callback)).status).toBe(302);
  });

  it('is followed by one check before the browser is redirected, so that the tools are listed', async () => {
    const at = await site();
    expect(await readIntegration(service, at)).toMatchObject({ status: 'needs_authorization', tools: [] });
    const callback = await tools.consent(await authorizationUrl(at));
    tools.calls.length = 0;
    expect((await visit(callback)).status).toBe(302);
    expect(await readIntegration(service, at)).toMatchObject({
      status: 'connected',
      error: null,
      tools: [{ name: 'who' }],
    });
    expect(tools.calls.filter((method) => method === 'tools/list')).toEqual(['tools/list']);
  });

  it('is completed even if the server does not answer the check, after at most 5 seconds', async () => {
    const at = await site();
    const callback = await tools.consent(await authorizationUrl(at));
    tools.behaviour.tool = 'hangs';
    const answered = visit(callback);
    await until(() => tools.hangs > 0, 'the check of the server');
    await clock.advance(5_000);
    expect((await answered).status).toBe(302);
    expect(await stateOf(at.server)).toBe('authorized');
  });

  it('requests the scopes of the challenge, or else the supported scopes', async () => {
    const at = await site();
    tools.behaviour.resourceMetadata = { scopes_supported: ['read', 'write'] };
    expect(new URL(await authorizationUrl(at)).searchParams.get('scope')).toBe('read write');
    tools.behaviour.challengedScope = 'read';
    expect(new URL(await authorizationUrl(at)).searchParams.get('scope')).toBe('read');
    tools.behaviour.metadata = { scopes_supported: ['read', 'offline_access'] };
    expect(new URL(await authorizationUrl(at)).searchParams.get('scope')).toBe('read offline_access');
  });

  it('works with a server of 2025-03-26, which is its own authorization server', async () => {
    const at = await site();
    tools.behaviour.resourceMetadata = null;
    tools.behaviour.metadata = { issuer: `${tools.origin}/oauth` };
    const url = await authorizationUrl(at);
    expect(new URL(url).searchParams.has('resource')).toBe(false);
    expect((await visit(await tools.consent(url))).status).toBe(302);
    expect(await stateOf(at.server)).toBe('authorized');
  });

  it('can be open together with another; the last one that is completed counts', async () => {
    const at = await site();
    const [first, second] = [await authorizationUrl(at), await authorizationUrl(at)];
    expect((await visit(await tools.consent(second))).status).toBe(302);
    const before = await service.app.get(IntegrationGrants, { strict: false }).versionOf(at.server);
    expect((await visit(await tools.consent(first))).status).toBe(302);
    expect(await service.app.get(IntegrationGrants, { strict: false }).versionOf(at.server)).not.toBe(before);
  });

  it('stores no secret in a table in clear', async () => {
    const at = await site();
    const url = await authorizationUrl(at);
    const rows = async (): Promise<string> =>
      JSON.stringify([
        await service.database.query('select * from oauth_sign_ins'),
        await service.database.query('select * from oauth_grants'),
      ]);
    const open = await rows();
    expect(open).not.toContain(new URL(url).searchParams.get('state'));
    await visit(await tools.consent(url));
    const text = open + (await rows());
    for (const secret of [
      'client-secret',
      'access-token',
      'refresh-token',
      tools.tokenRequests[0]?.get('code_verifier') ?? '?',
    ]) {
      expect(text).not.toContain(secret);
    }
  });

  it('is 404 if the integration is removed during the discovery', async () => {
    const at = await site();
    tools.behaviour.meanwhile = async (path) => {
      if (path === '/register') await removeIntegration(service, at);
    };
    expect((await authorize(at)).status).toBe(404);
    const left = 'select 1 from secrets where record_id = $1';
    expect(await service.database.query(left, [at.server.integrationId])).toEqual([]);
  });
});

describe('the callback', () => {
  async function expectPage(url: string, status: number, words: RegExp): Promise<void> {
    const answer = await page(url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(answer.text).toMatch(words);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    for (const value of new URL(url).searchParams.values()) expect(answer.text).not.toContain(value);
  }

  it.each([
    ['an unknown state', { state: 'x'.repeat(43), code: '<b>code</b>' }],
    ['no state', { state: null, code: 'code-of-nobody' }],
  ])('with %s is a page', async (_what, parameters) => {
    await expectPage(changed(`${service.baseUrl}/v1/oauth/mcp/callback`, parameters), 400, /not known/);
  });

  it('works once', async () => {
    const at = await site();
    const callback = await tools.consent(await authorizationUrl(at));
    const visits = await Promise.all(Array.from({ length: 5 }, () => visit(callback)));
    expect(visits.map(({ status }) => status).sort()).toEqual([302, 400, 400, 400, 400]);
    expect(tools.tokenRequests).toHaveLength(1);
    await expectPage(callback, 400, /completed already/);
  });

  it('fails after 10 minutes', async () => {
    const at = await site();
    const callback = await tools.consent(await authorizationUrl(at));
    await clock.advance(10 * MINUTE);
    await expectPage(callback, 400, /longer than 10 minutes/);
    expect(tools.tokenRequests).toHaveLength(0);
  });

  it('reports a denied sign-in without text of the server', async () => {
    const at = await site();
    const callback = await tools.consent(await authorizationUrl(at));
    await expectPage(
      changed(callback, { code: null, error: 'access_denied', error_description: '<script>alert(1)</script>' }),
      400,
      /did not grant access/,
    );
  });

  it('uses no code from another server', async () => {
    const at = await site();
    tools.behaviour.iss = tools.origin;
    const callback = await tools.consent(await authorizationUrl(at));
    await expectPage(changed(callback, { iss: 'https://evil.example' }), 400, /another server/);
    const second = await tools.consent(await authorizationUrl(at));
    await expectPage(changed(second, { iss: null }), 400, /another server/);
    // An error from another server is not reported either.
    const third = await tools.consent(await authorizationUrl(at));
    await expectPage(
      changed(third, { code: null, error: 'access_denied', iss: 'https://evil.example' }),
      400,
      /another server/,
    );
    expect(tools.tokenRequests).toHaveLength(0);
  });

  it.each([
    ['invalid_grant' as const, /did not accept/],
    ['error' as const, /could not be reached/],
    ['garbage' as const, /did not accept/],
  ])('reports a failed exchange (%s)', async (token, words) => {
    const at = await site();
    const callback = await tools.consent(await authorizationUrl(at));
    tools.behaviour.token = token;
    await expectPage(callback, 502, words);
    expect(await stateOf(at.server)).toBe('none');
  });

  it('waits 10 seconds for a server that hangs', async () => {
    const at = await site();
    const callback = await tools.consent(await authorizationUrl(at));
    tools.behaviour.token = 'hangs';
    const answered = page(callback);
    await until(() => tools.hangs === 1, 'the token endpoint is asked');
    await clock.advance(10_000);
    expect(await answered).toMatchObject({ status: 502 });
  });

  it('fails if the address of the integration has changed', async () => {
    const at = await site();
    const callback = await tools.consent(await authorizationUrl(at));
    await moveIntegration(service, at, `${tools.origin}/other`);
    await expectPage(callback, 400, /changed or removed/);
    expect(tools.tokenRequests).toHaveLength(0);
  });

  it('sends no code to an address that is not public', async () => {
    const at = await site();
    tools.behaviour.metadata = { token_endpoint: `${canary.url}/token` };
    await expectPage(await tools.consent(await authorizationUrl(at)), 502, /could not be reached/);
    expect(canary.connections).toBe(0);
  });
});

describe('an impossible or unsafe sign-in is 502', () => {
  const UNUSABLE: readonly [string, (url: string) => void][] = [
    [
      'registration at a private address',
      (url) => (tools.behaviour.metadata = { registration_endpoint: `${url}/register` }),
    ],
    [
      'an authorization server at a private address',
      (url) => (tools.behaviour.resourceMetadata = { authorization_servers: [url] }),
    ],
    ['endpoints without TLS', () => (tools.behaviour.metadata = { token_endpoint: 'http://tokens.example/token' })],
    [
      'an endpoint that is a script',
      () => (tools.behaviour.metadata = { authorization_endpoint: 'javascript://localhost/%0aalert(1)' }),
    ],
    ['another issuer', () => (tools.behaviour.metadata = { issuer: 'https://evil.example' })],
    [
      'another issuer of a server of 2025-03-26',
      () => {
        tools.behaviour.resourceMetadata = null;
        tools.behaviour.metadata = { issuer: 'https://evil.example' };
      },
    ],
    ['another resource', () => (tools.behaviour.resourceMetadata = { resource: 'https://evil.example/mcp' })],
    ['no PKCE', () => (tools.behaviour.metadata = { code_challenge_methods_supported: ['plain'] })],
    ['no registration', () => (tools.behaviour.registration = false)],
    ['endless metadata', () => (tools.behaviour.padding = 1_048_577)],
    ['endless scopes', () => (tools.behaviour.resourceMetadata = { scopes_supported: ['x'.repeat(5_000)] })],
    ['metadata that is none', () => (tools.behaviour.metadata = { token_endpoint: 5 })],
  ];

  it.each(UNUSABLE)('%s', async (_what, spoil) => {
    spoil(canary.url);
    const at = await site();
    const answer = await authorize(at);
    expect(answer).toMatchObject({ status: 502, body: { error: 'bad_gateway' } });
    expect(String(answer.body['message'])).toMatch(/tool server/);
    expect(answer.text).not.toMatch(/evil|alert|tokens\.example|xxx/);
    expect(canary.connections).toBe(0);
    expect(
      await service.database.query('select 1 from oauth_sign_ins where integration_id = $1', [at.server.integrationId]),
    ).toEqual([]);
  });

  it('an address that is not public', async () => {
    const at = await site(`${canary.url}/mcp`);
    expect(await authorize(at)).toMatchObject({ status: 502 });
    expect(canary.connections).toBe(0);
  });
});

describe('a sign-in is refused', () => {
  it('without a usable redirectUrl', async () => {
    const at = await site();
    for (const redirectUrl of [
      '/relative',
      'javascript:alert(1)',
      'ftp://x.example',
      `https://x.example/${'x'.repeat(2_048)}`,
      5,
    ]) {
      const answer = await authorize(at, { redirectUrl });
      expect(answer).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
      expect(answer.body['message']).toContain('redirectUrl');
    }
    expect(await authorize(at, {})).toMatchObject({ status: 400 });
    expect(tools.requests).toEqual([]);
  });

  it('if the integration authenticates in another way', async () => {
    const at = await newOAuthIntegration(service, tools.url, 'none');
    expect(await authorize(at)).toMatchObject({ status: 422, body: { error: 'unprocessable_entity' } });
  });

  it('if the agent has no such integration', async () => {
    const [at, other] = [await site(), await site()];
    expect(await authorize({ ...at, server: other.server })).toMatchObject({ status: 404 });
  });

  it('to a key without access to every agent of the integration', async () => {
    const organization = await service.organization();
    const [own, foreign] = [await service.agent(organization.key), await service.agent(organization.key)];
    const at = await addIntegration(service, {
      ...{ key: organization.key, organizationId: organization.id, agentIds: [own, foreign], url: tools.url },
    });
    const { key } = await organization.keyWith(['manageAgents'], [own]);
    expect(await authorize({ ...at, key })).toMatchObject({
      status: 403,
      body: {
        code: 'forbidden_by_agent_allowlist',
        message: expect.stringContaining('Other agents use this integration too'),
      },
    });
    const { key: lacking } = await organization.keyWith(['chat']);
    expect(await authorize({ ...at, key: lacking })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_key_role' },
    });
    expect(tools.requests).toEqual([]);
  });
});

describe('sign-ins that are not completed', () => {
  it('are removed with their secrets beyond 20 of an integration, or when they are too old', async () => {
    const at = await site();
    const first = await tools.consent(await authorizationUrl(at));
    for (let count = 0; count < 20; count += 1) {
      await clock.advance(1);
      await authorizationUrl(at);
    }
    expect((await page(first)).status).toBe(400);
    const where = [at.server.integrationId];
    const open = (): Promise<object[]> =>
      service.database.query('select 1 from oauth_sign_ins where integration_id = $1', where);
    const secrets = (): Promise<object[]> =>
      service.database.query('select 1 from secrets where record_id = $1', where);
    expect([(await open()).length, (await secrets()).length]).toEqual([20, 20]);
    await clock.advance(10 * MINUTE);
    const job = service.app.get(RemoveExpiredSignIns, { strict: false });
    await job.process({ signal: new AbortController().signal } as Parameters<typeof job.process>[0]);
    expect([(await open()).length, (await secrets()).length]).toEqual([0, 0]);
  });
});

it('the client metadata exists only with a public https URL', async () => {
  expect(await service.http('GET', '/v1/oauth/mcp/client-metadata')).toMatchObject({ status: 404 });
});
