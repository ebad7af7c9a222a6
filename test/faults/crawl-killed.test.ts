import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { ServiceProcess } from '../support/service-process.js';
import { useSite } from '../support/site-server.js';
import { until } from '../support/until.js';
import type { WebsiteBody } from '../support/websites.js';
import { ServiceClient } from './service-client.js';

const DYING = resolve('test/support/service-that-dies-indexing.mjs');
const LATER = resolve('test/support/later-service.mjs');
/** More than the hold on a job and on a page, and the pauses between their checks. */
const LATER_MS = 10 * 60_000;
/** The job of a dead process is found within a minute; the rest is for a slow machine. */
const WITHIN_MS = 240_000;
const PAGES = 40;

const site = useSite();
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
let key: string;

function start(more: Readonly<Record<string, string>> = {}, entry?: string): Promise<ServiceProcess> {
  const egress = { EGRESS_ALLOW: `127.0.0.1:${String(site.port)}` };
  return ServiceProcess.start({
    environment: { DATA_DIR: data.path, ...environment.variables, ...egress, ...more },
    ...(entry === undefined ? {} : { entry }),
  });
}

/** When this process starts, the holds of its predecessor have expired. */
function startLater(): Promise<ServiceProcess> {
  return start({ LATER_MS: String(LATER_MS) }, LATER);
}

beforeEach(async () => {
  environment = await modeEnvironment();
  data = await dataFolder();
});
afterEach(async () => {
  await service.kill();
  await environment.close();
  data.remove();
});

async function crawl(client: ServiceClient): Promise<string> {
  const { id } = await client.call<{ id: string }>('POST', '/v1/agents', {
    name: 'A',
    provider: { type: 'anthropic' },
  });
  await client.call('PUT', `/v1/agents/${id}/knowledge-bases/website`, { configs: [{ rootUrl: site.url('/') }] });
  return id;
}

async function crawled(client: ServiceClient, agentId: string): Promise<WebsiteBody> {
  const read = (): Promise<WebsiteBody> =>
    client.call<WebsiteBody>('GET', `/v1/agents/${agentId}/knowledge-bases/website`);
  await until(async () => (await read()).sync.state !== 'IN_PROGRESS', 'the crawl ends', {
    withinMs: WITHIN_MS,
    everyMs: 250,
  });
  return read();
}

it(
  'a crawl whose process is killed is completed by the next one, which fetches again only what was under way',
  async () => {
    const links = Array.from({ length: PAGES }, (_none, index) => `/p/${index}`);
    const moment = (): Promise<unknown> => new Promise((wait) => setTimeout(wait, 50));
    site.article('/', { title: 'Home', text: 'Home.', links });
    for (const link of links)
      site.page(link, {
        body: `<html><head><title>${link}</title></head><body><p>This is ${link}.</p></body></html>`,
        before: moment,
      });
    service = await start();
    key = service.firstKey ?? '';
    const agentId = await crawl(new ServiceClient(service, key));
    await until(() => site.requests.length > PAGES / 2, 'half of the pages were asked for');
    await service.kill();
    service = await startLater();
    const client = new ServiceClient(service, key);
    expect((await crawled(client, agentId)).sync).toMatchObject({
      state: 'SUCCESS',
      lastError: null,
      pages: { found: PAGES + 1, indexed: PAGES + 1 },
    });
    const counts = links.map((link) => site.count(link));
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
    // A batch of six that was fetched, and one of six that was stored.
    expect(counts.filter((count) => count === 2).length).toBeLessThanOrEqual(12);
  },
  WITHIN_MS + 60_000,
);

it(
  'a large page whose writer is killed between two of its steps is stored whole, once',
  async () => {
    const paragraphs = Array.from(
      { length: 120 },
      (_none, index) => `<h2>Part ${index}</h2><p>${`word${index} of a long text. `.repeat(60)}</p>`,
    );
    site.page('/', `<html><head><title>Large</title></head><body><main>${paragraphs.join('')}</main></body></html>`);
    service = await start({ DIE_AFTER: '2' }, DYING);
    key = service.firstKey ?? '';
    const agentId = await crawl(new ServiceClient(service, key));
    await service.ended();
    service = await startLater();
    const client = new ServiceClient(service, key);
    const after = await crawled(client, agentId);
    expect(after.sync).toMatchObject({ state: 'SUCCESS', pages: { found: 1, indexed: 1 } });
    const wholeId = await crawl(client);
    const whole = await crawled(client, wholeId);
    expect(whole.chunks).toBeGreaterThan(64);
    expect(after).toMatchObject({ chunks: whole.chunks, bytes: whole.bytes });
    const search = (id: string): Promise<{ results: readonly { text: string }[] }> =>
      client.call('POST', `/v1/agents/${id}/knowledge-bases/search`, {
        query: 'word3 word70 word119',
        scoreThreshold: 0,
        maxResults: 50,
      });
    const texts = async (id: string): Promise<string[]> => (await search(id)).results.map(({ text }) => text);
    expect((await texts(agentId)).sort()).toEqual((await texts(wholeId)).sort());
  },
  WITHIN_MS + 60_000,
);
