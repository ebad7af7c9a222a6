import { afterAll, describe, expect, it } from '@jest/globals';
import { CountCredits } from '../../../src/credits/jobs/count-credits.job.js';
import { DriveKnowledge } from '../../support/drive-knowledge.js';
import { DriveServer } from '../../support/drive-server.js';
import { newOAuthIntegration } from '../../support/oauth-integrations.js';
import { OAuthToolServer } from '../../support/oauth-tool-server.js';
import { useSite } from '../../support/site-server.js';
import { until } from '../../support/until.js';
import { AgentWebsite } from '../../support/websites.js';
import { costs } from '../credits/support.js';
import { useHookServer, useHookService } from '../hooks/support.js';
import { completedRun, createWebhook } from './support.js';

const drive = await DriveServer.start();
const tools = await OAuthToolServer.start();
const service = useHookService({ environment: drive.environment });
const server = useHookServer();
const site = useSite();

afterAll(async () => {
  await drive.close();
  await tools.close();
});

/** Waits for so many events at the path. @returns their types and data */
async function received(path: string, count: number): Promise<unknown[]> {
  await until(() => server.of(path).length >= count, `${count} events at ${path}`);
  return server.of(path).map(({ input: { type, data } }) => ({ type, data }));
}

describe('knowledge.sync_finished', () => {
  const events = ['knowledge.sync_finished'];

  it("is sent when a crawl of an agent's websites ends, with the same source at each", async () => {
    const { key } = await service.organization();
    const website = await AgentWebsite.of(service, key);
    await createWebhook(service, key, { url: server.url('/crawl'), events, assistant_ids: [website.agentId] });
    site.article('/docs/', { title: 'Docs', text: 'Start here.', links: [] });
    await website.crawl({ rootUrl: site.url('/docs/') });
    const [first] = (await received('/crawl', 1)) as { data: { sourceId: string } }[];
    expect(first).toEqual({
      type: 'knowledge.sync_finished',
      data: { assistant_id: website.agentId, sourceId: expect.any(String) },
    });
    await website.crawl({ rootUrl: site.url('/docs/') }, { rootUrl: site.url('/absent') });
    expect(await received('/crawl', 2)).toEqual([first, first]);
  });

  it('is sent when a sync of a drive ends', async () => {
    const at = await DriveKnowledge.withAccount(service);
    await createWebhook(service, at.key, { url: server.url('/drive'), events });
    await at.synced([drive.text('a.txt', 'alpha')]);
    const [row] = await service.database.query<{ id: string }>(
      'select id::text as id from drive_sources where agent_id = $1::uuid',
      [at.agentId],
    );
    expect(await received('/drive', 1)).toEqual([
      { type: 'knowledge.sync_finished', data: { assistant_id: at.agentId, sourceId: row?.id } },
    ]);
  });
});

describe('integration.needs_authorization', () => {
  it('is sent once when an integration begins to need a sign-in', async () => {
    const { key, agentId, server: integration } = await newOAuthIntegration(service, tools.url);
    const events = ['integration.needs_authorization'];
    await createWebhook(service, key, { url: server.url('/sign-in'), events });
    const { integrationId } = integration;
    const path = `/v1/agents/${agentId}/tool-integrations/${integrationId}`;
    const wanted = { type: 'integration.needs_authorization', data: { integrationId, assistant_id: agentId } };
    await service.database.query(
      `update tool_integration_states set status = 'connected' where integration_id = $1::uuid`,
      [integrationId],
    );
    for (let check = 0; check < 2; check += 1) await service.http('POST', `${path}/test`, { key });
    expect(await received('/sign-in', 1)).toEqual([wanted]);
    const stored = await service.database.query('select 1 from webhook_deliveries where type = $1', [wanted.type]);
    expect(stored).toHaveLength(1);
  });
});

describe('credits.exhausted', () => {
  it("is sent once when a month's included credits are used up", async () => {
    const { id, key } = await service.organization();
    await service.cli('org', 'set', id, '--credits', '1');
    const agentId = await service.agent(key);
    const thread = await service.thread(key, agentId);
    // An event of the organization: the limit to another agent does not concern it.
    const other = await service.agent(key);
    await createWebhook(service, key, {
      ...{ url: server.url('/credits'), events: ['credits.exhausted'], assistant_ids: [other] },
    });
    const count = service.app.get(CountCredits, { strict: false });
    const spend = async (tenths: number): Promise<void> => {
      service.models.next(costs(tenths));
      await completedRun(service, key, thread);
      await count.process({ signal: new AbortController().signal } as Parameters<typeof count.process>[0]);
    };
    const stored = () =>
      service.database.query('select 1 from webhook_deliveries where organization_id = $1::uuid', [id]);
    await spend(9);
    expect(await stored()).toEqual([]);
    await spend(1);
    await spend(5);
    expect(await stored()).toHaveLength(1);
    const { body } = await service.http<{ periods: { id: string }[] }>('GET', '/v1/credits/usage/periods', { key });
    expect(await received('/credits', 1)).toEqual([
      { type: 'credits.exhausted', data: { periodId: body.periods[0]?.id } },
    ]);
  });
});
