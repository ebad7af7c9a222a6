import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SyncDriveSource } from '../../../src/knowledge/drive/application/sync/sync-drive-source.js';
import { DriveKnowledge } from '../../support/drive-knowledge.js';
import { DriveServer, FOLDER, json } from '../../support/drive-server.js';
import { until, useService } from '../../support/harness.js';
import { DriveSyncs } from './drive-syncs.js';

const drive = await DriveServer.start();
const service = useService({ environment: drive.environment });
const syncs = new DriveSyncs(service, drive);
const forever = new AbortController().signal;

beforeEach(() => drive.reset());
afterAll(() => drive.close());

describe('a drive with wrong responses', () => {
  it('cannot cause an endless sync, invalid items or endless names', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const top = drive.folder('Top');
    let pages = 0;
    drive.before = ({ query }, response) => {
      if (!query.has('q')) return false;
      pages += 1;
      const self = { id: top, name: 'Top', mimeType: FOLDER, parents: [top] };
      const odd = [
        self,
        null,
        7,
        { id: 'x'.repeat(300) },
        { id: 'no-type' },
        { id: '..', name: 'a', mimeType: 'text/plain' },
      ];
      json(response, 200, {
        files: pages > 1 ? odd : [...odd, { id: 'named', name: 'n'.repeat(100_000), mimeType: 'text/plain' }],
        ...(pages < 3 && { nextPageToken: `page-${pages}` }),
      });
      return true;
    };
    drive.add({ id: 'named', name: 'named', content: 'alpha' });
    expect((await at.synced([top])).sync).toMatchObject({ state: 'SUCCESS' });
    expect(pages).toBe(3);
    expect(Object.keys(await syncs.documents(at)).map((title) => title.length)).toEqual([1_000]);
  });

  it.each([
    ['another page', (page: number) => `page-${page}`, 50],
    ['the same page', () => 'page', 2],
  ])(
    'with empty pages that always lead to %s makes a sync fail, and no file counts as missing',
    async (_what, nextPageToken, most) => {
      const at = await DriveKnowledge.withAccount(service);
      const top = drive.folder('Top');
      drive.text('a.txt', 'alpha', top);
      await at.synced([top]);
      let pages = 0;
      drive.before = ({ query }, response) => {
        if (!query.has('q')) return false;
        pages += 1;
        json(response, 200, { files: [], nextPageToken: nextPageToken(pages) });
        return true;
      };
      expect((await at.synced([top])).sync).toMatchObject({
        state: 'FAILED',
        lastError: expect.stringContaining('the folder Top'),
      });
      expect(pages).toBe(most);
      expect(await syncs.documents(at)).toEqual({ 'a.txt': 'alpha' });
      drive.before = undefined;
      expect((await syncs.repeat(at)).sync).toMatchObject({ state: 'SUCCESS', lastError: null });
    },
  );

  it.each([
    ['a response that is not JSON', (response: Parameters<typeof json>[0]) => response.writeHead(200).end('{"half')],
    [
      'a response that does not match its API',
      (response: Parameters<typeof json>[0]) => json(response, 200, { files: 'none' }),
    ],
    [
      'a redirect',
      (response: Parameters<typeof json>[0]) =>
        response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
    ],
    [
      'a response above the size limit',
      (response: Parameters<typeof json>[0]) => response.writeHead(200).end('x'.repeat(3 * 1024 * 1024)),
    ],
  ])('with %s makes a sync fail after retries', async (_what, answer) => {
    const at = await DriveKnowledge.withAccount(service);
    const top = drive.folder('Top');
    let asked = 0;
    drive.before = ({ query }, response) => {
      if (!query.has('q')) return false;
      asked += 1;
      answer(response);
      return true;
    };
    await at.put([top]);
    await until(() => asked > 0, 'a request to the drive');
    // The pauses between steps are long, so the test skips them.
    const source = await syncs.sourceOf(at);
    await until(async () => {
      await service.database.query('update drive_sources set stalls = 8 where id = $1::uuid and lease is null', [
        source.id,
      ]);
      await service.app.get(SyncDriveSource, { strict: false }).execute(source, forever);
      return (await at.read()).body.sync.state === 'FAILED';
    }, 'the sync has failed');
    expect((await at.read()).body.sync.lastError).toMatch(/drive|larger/);
  });

  it('that redirects fails the request that selects files or adds an account, and nothing is stored', async () => {
    const at = await DriveKnowledge.withAccount(service);
    drive.before = (_request, response) => {
      response.writeHead(302, { location: `${drive.url}/elsewhere` }).end();
      return true;
    };
    for (const answer of [await at.put([drive.text('a.txt', 'alpha')]), await at.addAccount()]) {
      expect(answer).toMatchObject({
        status: 502,
        body: { error: 'bad_gateway', message: expect.stringContaining('(302); redirects are not followed') },
      });
    }
    expect((await at.read()).status).toBe(404);
    expect(drive.requests.some(({ path }) => path === '/elsewhere')).toBe(false);
  });
});
