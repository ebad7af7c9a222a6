import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DriveKnowledge } from '../../support/drive-knowledge.js';
import { DOCUMENT, DriveServer, FOLDER, json, refusal, SLIDES, SPREADSHEET } from '../../support/drive-server.js';
import { useService } from '../../support/harness.js';
import { DriveSyncs } from './drive-syncs.js';

const drive = await DriveServer.start();
const service = useService({ environment: drive.environment });
const syncs = new DriveSyncs(service, drive);

beforeEach(() => drive.reset());
afterAll(() => drive.close());

describe('a sync', () => {
  it('reads a folder with everything below it, each file once, through pages, shortcuts and cycles', async () => {
    const at = await DriveKnowledge.withAccount(service);
    drive.pageSize = 2;
    const top = drive.folder('Top');
    const below = drive.folder('Below', top);
    const elsewhere = drive.folder('Elsewhere');
    const shared = drive.text('shared.txt', 'golf', elsewhere);
    for (const [name, content] of [
      ['a.txt', 'alpha'],
      ['b.txt', 'bravo'],
      ['c.txt', 'charlie'],
    ] as const)
      drive.text(name, content, top);
    drive.text('d.md', 'delta', below);
    drive.shortcut('to the top', top, below);
    drive.shortcut('to elsewhere', elsewhere, below);
    drive.shortcut('to a shortcut', drive.shortcut('to shared', shared, 'nowhere'), below);
    drive.change(drive.text('trashed.txt', 'echo', top), { trashed: true });
    drive.add({ name: 'photo.png', mimeType: 'image/png', parents: [top], content: 'foxtrot' });
    const view = await at.synced([top]);
    expect(view).toMatchObject({
      files: [{ id: top, name: 'Top', mimeType: FOLDER, kind: 'folder' }],
      sync: { state: 'SUCCESS', lastError: null },
    });
    expect(await syncs.documents(at)).toEqual({
      'a.txt': 'alpha',
      'b.txt': 'bravo',
      'c.txt': 'charlie',
      'd.md': 'delta',
      'shared.txt': 'golf',
    });
    expect([view.chunks, view.bytes]).toEqual([5, 26]);
    expect(drive.fetched).toHaveLength(5);
    expect(
      drive.requests
        .filter(({ path }) => path.startsWith('/drive/v3/files'))
        .every(({ query }) => query['supportsAllDrives'] === 'true'),
    ).toBe(true);
  });

  it('exports documents of the drive in a format with structure, or in a smaller one if that is too large', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const own = (name: string, mimeType: string): string => drive.add({ name, mimeType, content: `text of ${name}` });
    const ids = [own('Doc', DOCUMENT), own('Sheet', SPREADSHEET), own('Slides', SLIDES)];
    const asked: (string | null)[] = [];
    drive.before = ({ path, query }, response) => {
      if (!path.endsWith('/export')) return false;
      asked.push(query.get('mimeType'));
      if (query.get('mimeType')?.includes('spreadsheetml') !== true) return false;
      json(response, 403, refusal('exportSizeLimitExceeded'));
      return true;
    };
    expect((await at.synced(ids)).sync.state).toBe('SUCCESS');
    expect(await syncs.documents(at)).toEqual({
      Doc: 'text of Doc',
      Sheet: expect.stringContaining('text of Sheet'),
      Slides: 'text of Slides',
    });
    expect(asked.sort()).toEqual([
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'text/csv',
      'text/markdown',
      'text/plain',
    ]);
    const [row] = await service.database.query<{ url: string }>(
      'select url from knowledge_documents where agent_id = $1::uuid and title = $2',
      [at.agentId, 'Doc'],
    );
    expect(row?.url).toBe(`https://drive.example/${ids[0]}`);
  });

  it('names the files that the account cannot see, and stores nothing', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const [there, trashed] = [drive.text('a.txt', 'alpha'), drive.add({ name: 'b', trashed: true })];
    const answer = await at.put([there, 'of-no-account', trashed, '..']);
    expect(answer).toMatchObject({ status: 400, body: { code: 'drive_file_not_found' } });
    for (const id of ['of-no-account', trashed, "'..'"]) expect(answer.text).toContain(id);
    expect(answer.text).not.toContain(there);
    expect((await at.read()).status).toBe(404);
    drive.before = (_request, response) => (json(response, 500, {}, { 'retry-after': '0' }), true);
    expect((await at.put([there])).status).toBe(503);
    expect((await at.read()).status).toBe(404);
  });

  it('accepts 1 to 500 ids, and counts duplicates once', async () => {
    const at = await DriveKnowledge.withAccount(service);
    for (const ids of [[], [''], undefined, 'x', Array.from({ length: 501 }, String)]) {
      expect(await at.put(ids)).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
    }
    const id = drive.text('a.txt', 'alpha');
    expect((await at.synced([id, id])).files).toHaveLength(1);
  });

  it('reports files that failed or are missing, and keeps earlier documents of failed ones', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const [good, large, empty] = [
      drive.text('good.txt', 'alpha'),
      drive.add({ name: 'large.txt', described: { size: '52428801' } }),
      drive.text('empty.txt', ''),
    ];
    const photo = drive.add({ name: 'photo.png', mimeType: 'image/png' });
    const view = await at.synced([good, large, empty, photo]);
    expect(view.sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      lastError: expect.stringMatching(/^empty\.txt: .*\(and 2 more\)$/),
    });
    expect(Object.keys(await syncs.documents(at))).toEqual(['good.txt']);
    drive.remove(good);
    expect((await syncs.repeat(at)).sync).toMatchObject({
      state: 'FAILED',
      lastSuccessfulSyncAt: view.sync.lastSuccessfulSyncAt,
    });
    expect(await syncs.documents(at)).toEqual({});
  });

  it('retries when the drive limits the rate', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const ids = [drive.text('a.txt', 'alpha'), drive.text('b.txt', 'bravo')];
    let refused = 0;
    drive.before = ({ query }, response) => {
      if (query.get('alt') !== 'media' || refused > 0) return false;
      refused += 1;
      json(response, 403, refusal('userRateLimitExceeded'), { 'retry-after': '1' });
      return true;
    };
    expect((await at.synced(ids)).sync.state).toBe('SUCCESS');
    expect(Object.keys(await syncs.documents(at))).toEqual(['a.txt', 'b.txt']);
    expect(refused).toBe(1);
  });

  it('fails when access was withdrawn, and keeps the documents', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const first = await at.synced([drive.text('a.txt', 'alpha')]);
    drive.revokeTokens();
    drive.refusal = () => 'invalid_grant';
    const { sync } = await syncs.repeat(at);
    expect(sync).toMatchObject({
      state: 'FAILED',
      lastError: expect.stringContaining('invalid_grant'),
      lastSuccessfulSyncAt: first.sync.lastSuccessfulSyncAt,
    });
    expect(await syncs.documents(at)).toEqual({ 'a.txt': 'alpha' });
    drive.refusal = undefined;
    expect((await syncs.repeat(at)).sync).toMatchObject({ state: 'SUCCESS', lastError: null });
  });
});
