import { beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, useService } from '../../support/harness.js';
import { AgentWebsite } from '../../support/websites.js';

const service = useService();
let organization: TestOrganization;
let agent: AgentWebsite;
beforeAll(async () => {
  organization = await service.organization();
  agent = await AgentWebsite.of(service, organization.key);
});

const ROOT = 'http://127.0.0.1:9/docs';
const pathOf = (agentId: string): string => `/v1/agents/${agentId}/knowledge-bases/website`;

describe('the websites of an agent', () => {
  it('answer 404 until some are set', async () => {
    const fresh = await AgentWebsite.of(service, organization.key);
    expect(await fresh.read()).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });

  it('are stored in canonical form, select their root page and start a crawl', async () => {
    const { status, body } = await agent.put({
      rootUrl: 'HTTP://127.0.0.1:80/a/../Docs/%7euser#top',
      excludedUrls: ['http://127.0.0.1/Docs/x#y', 'http://127.0.0.1:80/Docs/x'],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      configs: [
        {
          rootUrl: 'http://127.0.0.1/Docs/~user/',
          excludedUrls: ['http://127.0.0.1/Docs/x'],
          selectedUrls: ['http://127.0.0.1/Docs/~user/'],
        },
      ],
      sync: {
        state: 'IN_PROGRESS',
        lastSuccessfulSyncAt: null,
        lastError: null,
        pages: { found: 0, indexed: 0, failed: 0, skipped: 0 },
      },
      chunks: 0,
      bytes: 0,
    });
    expect(body.sync.startedAt).toEqual(expect.any(String));
  });

  it('at an address that is not public fail with that reason', async () => {
    const { sync } = await agent.crawl({ rootUrl: ROOT });
    expect(sync).toMatchObject({ state: 'FAILED', lastSuccessfulSyncAt: null, pages: { found: 1, failed: 1 } });
    expect(sync.lastError).toContain(`${ROOT}/: `);
  });

  it('have their exclusions replaced, also by an empty list', async () => {
    await agent.put({ rootUrl: ROOT, excludedUrls: [`${ROOT}/a`] });
    expect((await agent.put({ rootUrl: `${ROOT}/` })).body.configs).toEqual([
      { rootUrl: `${ROOT}/`, excludedUrls: [], selectedUrls: [`${ROOT}/`] },
    ]);
  });

  it.each([
    ['the same site twice', [{ rootUrl: ROOT }, { rootUrl: `${ROOT}/#x` }], `${ROOT}/#x`],
    [
      'an exclusion elsewhere',
      [{ rootUrl: ROOT, excludedUrls: ['http://127.0.0.1:10/docs/a'] }],
      'http://127.0.0.1:10/docs/a',
    ],
    ['a relative exclusion', [{ rootUrl: ROOT, excludedUrls: ['/docs/a'] }], '/docs/a'],
    ['a pattern', [{ rootUrl: ROOT, excludedUrls: [`${ROOT}/*`] }], `${ROOT}/*`],
    ['another scheme', [{ rootUrl: 'ftp://example.com/' }], 'rootUrl'],
    ['no URL', [{ rootUrl: 'example.com' }], 'rootUrl'],
    ['a space before it', [{ rootUrl: ' http://example.com/' }], 'rootUrl'],
    ['a space after it', [{ rootUrl: 'http://example.com/ ' }], 'rootUrl'],
    ['a line break in it', [{ rootUrl: 'http://example.com/\n' }], 'rootUrl'],
    ['no slashes', [{ rootUrl: 'https:example.com' }], 'rootUrl'],
    ['too many slashes', [{ rootUrl: 'https:///example.com' }], 'rootUrl'],
    ['a space after an exclusion', [{ rootUrl: ROOT, excludedUrls: [`${ROOT}/a `] }], `${ROOT}/a `],
    ['a user name', [{ rootUrl: 'http://user:password@example.com/' }], 'rootUrl'],
    ['encoded path steps', [{ rootUrl: 'http://example.com/a/..%2f..%2fb' }], 'rootUrl'],
    ['a long URL', [{ rootUrl: `http://example.com/${'x'.repeat(2_048)}` }], 'rootUrl'],
    ['an unknown field', [{ rootUrl: ROOT, selectedUrls: [ROOT] }], 'selectedUrls'],
    ['too many sites', Array.from({ length: 51 }, (_none, index) => ({ rootUrl: `${ROOT}/${index}` })), 'configs'],
  ])('are refused with %s, and stay as they were', async (_what, configs, named) => {
    const before = (await agent.read()).body.configs;
    const answer = await service.http('PUT', pathOf(agent.agentId), { key: organization.key, body: { configs } });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(named) },
    });
    expect((await agent.read()).body.configs).toEqual(before);
  });

  it('are not available for a classic agent', async () => {
    const agentId = await service.agent(organization.key);
    await service.cli('agent', 'set', agentId, '--type', 'classic');
    const answer = await service.http('PUT', pathOf(agentId), { key: organization.key, body: { configs: [] } });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body).toEqual({ error: 'provider_does_not_support_website_sync', message: expect.any(String) });
    expect((await service.http('GET', pathOf(agentId), { key: organization.key })).status).toBe(404);
  });

  it('need manageAgents to be changed', async () => {
    const { key } = await organization.keyWith(['chat']);
    const answer = await service.http('PUT', pathOf(agent.agentId), { key, body: { configs: [] } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });
    expect((await service.http('GET', pathOf(agent.agentId), { key })).status).toBe(200);
  });
});
