import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { DriveKnowledge } from '../../support/drive-knowledge.js';
import { DriveServer } from '../../support/drive-server.js';
import { until, useService } from '../../support/harness.js';
import { filesPath, learn, type Owner, searchKnowledge } from '../../support/knowledge.js';
import { useSite } from '../../support/site-server.js';

const drive = await DriveServer.start();
const site = useSite();
const service = useService({ environment: drive.environment, egressAllow: site.egressAllow });
let at: DriveKnowledge;
let owner: Owner;

beforeEach(async () => {
  drive.reset();
  at = await DriveKnowledge.withAccount(service);
  owner = { key: at.key, agentId: at.agentId };
});
afterAll(() => drive.close());

const kinds = async (): Promise<string[]> =>
  (await searchKnowledge(service, owner, 'lions')).map(({ kind }) => kind).sort();
const websitePath = (): string => `/v1/agents/${owner.agentId}/knowledge-bases/website`;

async function setWebsite(...rootUrls: readonly string[]): Promise<void> {
  const body = { configs: rootUrls.map((rootUrl) => ({ rootUrl })) };
  expect((await service.http('PUT', websitePath(), { key: owner.key, body })).status).toBe(200);
  await until(async () => {
    const { body: view } = await service.http<{ sync: { state: string } }>('GET', websitePath(), { key: owner.key });
    return view.sync.state !== 'IN_PROGRESS';
  }, 'the end of the crawl');
}

it('a search finds a page, a file and a drive file; removed ones are no longer found, and the others are', async () => {
  site.article('/', { title: 'Lions', text: 'On the website the lions sleep in the shade of the trees.' });
  await setWebsite(site.url('/'));
  await learn(service, owner, 'In the upload the lions hunt by night.');
  await at.synced([drive.text('a.txt', 'In the drive the lions drink at the river.')]);
  expect(await kinds()).toEqual(['drive', 'upload', 'website']);

  await setWebsite();
  await until(async () => (await kinds()).length === 2, 'the page to be gone');
  expect(await kinds()).toEqual(['drive', 'upload']);
  const { body } = await service.http<{ files: { id: string }[] }>('GET', filesPath(owner), { key: owner.key });
  for (const { id } of body.files)
    expect((await service.http('DELETE', `${filesPath(owner)}/${id}`, { key: owner.key })).status).toBe(204);
  expect(await kinds()).toEqual(['drive']);
  expect((await at.remove('drive-service-account')).status).toBe(204);
  await until(async () => (await kinds()).length === 0, 'the drive file to be gone');
});
