import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SyncDriveSource } from '../../../src/knowledge/drive/application/sync/sync-drive-source.js';
import { ScheduleDriveSyncs } from '../../../src/knowledge/drive/jobs/sync-drives.job.js';
import { DriveKnowledge, type DriveView } from '../../support/drive-knowledge.js';
import { DOCUMENT, DriveServer, FOLDER, json, refusal, SLIDES, SPREADSHEET } from '../../support/drive-server.js';
import { until, useService } from '../../support/harness.js';

const drive = await DriveServer.start();
const service = useService({ environment: drive.environment });
const forever = new AbortController().signal;

beforeEach(() => drive.reset());
afterAll(() => drive.close());

/** The documents of an agent: text by title. */
async function known({ agentId }: DriveKnowledge): Promise<Record<string, string>> {
  const rows = await service.database.query<{ title: string; text: string }>(
    `select d.title, string_agg(c.text, ' ' order by c.position) as text from knowledge_documents d
       left join knowledge_chunks c on c.document_id = d.id where d.agent_id = $1::uuid group by d.id order by d.title`,
    [agentId],
  );
  return Object.fromEntries(rows.map(({ title, text }) => [title, text]));
}

async function sourceOf({ agentId }: DriveKnowledge): Promise<{ organizationId: string; id: string }> {
  const [row] = await service.database.query<{ organizationId: string; id: string }>(
    'select id::text as id, organization_id::text as "organizationId" from drive_sources where agent_id = $1::uuid and removed_at is null',
    [agentId],
  );
  return row!;
}

async function schedule(): Promise<void> {
  await service.app.get(ScheduleDriveSyncs, { strict: false }).process();
}

/** Makes the next sync due. */
async function syncedAgain(at: DriveKnowledge): Promise<DriveView> {
  drive.requests.length = 0;
  const { id } = await sourceOf(at);
  await service.database.query("update drive_sources set next_sync_at = '2020-01-01T00:00:00Z' where id = $1::uuid", [
    id,
  ]);
  await schedule();
  return at.ended();
}

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
    expect(await known(at)).toEqual({
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

  it('exports documents of the drive in a format that keeps structure, or in a smaller one where that is too large', async () => {
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
    expect(await known(at)).toEqual({
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

  it('reports files that failed or are missing, and keeps what was read of failed ones before', async () => {
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
    expect(Object.keys(await known(at))).toEqual(['good.txt']);
    drive.remove(good);
    expect((await syncedAgain(at)).sync).toMatchObject({
      state: 'FAILED',
      lastSuccessfulSyncAt: view.sync.lastSuccessfulSyncAt,
    });
    expect(await known(at)).toEqual({});
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
    expect(Object.keys(await known(at))).toEqual(['a.txt', 'b.txt']);
    expect(refused).toBe(1);
  });

  it('fails when access was withdrawn, and keeps the documents', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const first = await at.synced([drive.text('a.txt', 'alpha')]);
    drive.revokeTokens();
    drive.refusal = () => 'invalid_grant';
    const { sync } = await syncedAgain(at);
    expect(sync).toMatchObject({
      state: 'FAILED',
      lastError: expect.stringContaining('invalid_grant'),
      lastSuccessfulSyncAt: first.sync.lastSuccessfulSyncAt,
    });
    expect(await known(at)).toEqual({ 'a.txt': 'alpha' });
    drive.refusal = undefined;
    expect((await syncedAgain(at)).sync).toMatchObject({ state: 'SUCCESS', lastError: null });
  });
});

describe('a sync that is repeated', () => {
  it('keeps the error of the one before until it ends', async () => {
    const at = await DriveKnowledge.withAccount(service);
    await at.synced([drive.text('a.txt', 'alpha')]);
    drive.refusal = () => 'invalid_grant';
    drive.revokeTokens();
    expect((await syncedAgain(at)).sync.lastError).toContain('invalid_grant');
    drive.refusal = undefined;
    const held = hold((path) => path.includes('/changes'));
    const again = syncedAgain(at);
    await until(() => held.reached(), 'a request to the drive');
    expect((await at.read()).body.sync).toMatchObject({
      state: 'IN_PROGRESS',
      lastError: expect.stringContaining('invalid_grant'),
    });
    held.release();
    expect((await again).sync).toMatchObject({ state: 'SUCCESS', lastError: null });
  });

  it('requests only the changes, and fetches what has changed', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const top = drive.folder('Top');
    const [a, b, c] = [
      drive.text('a.txt', 'alpha', top),
      drive.text('b.txt', 'bravo', top),
      drive.text('c.txt', 'charlie', top),
    ];
    drive.text('d.txt', 'delta', top);
    await at.synced([top]);
    expect((await syncedAgain(at)).sync.state).toBe('SUCCESS');
    expect(drive.requests.map(({ path }) => path)).toEqual(['/drive/v3/changes']);
    drive.change(a, { content: 'alpha two' });
    drive.change(b, { trashed: true });
    drive.remove(c);
    drive.text('e.txt', 'echo', top);
    drive.text('outside.txt', 'foxtrot');
    expect((await syncedAgain(at)).sync.state).toBe('SUCCESS');
    expect(await known(at)).toEqual({ 'a.txt': 'alpha two', 'd.txt': 'delta', 'e.txt': 'echo' });
    expect(drive.fetched).toHaveLength(2);
    expect(drive.requests.some(({ query }) => 'q' in query)).toBe(false);
  });

  it('lists everything again when folders have changed, without fetching unchanged files', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const top = drive.folder('Top');
    const below = drive.folder('Below', top);
    drive.text('a.txt', 'alpha', top);
    drive.text('b.txt', 'bravo', below);
    await at.synced([top]);
    drive.change(below, { parents: ['elsewhere'] });
    const other = drive.folder('Other', top);
    drive.text('c.txt', 'charlie', other);
    expect((await syncedAgain(at)).sync.state).toBe('SUCCESS');
    expect(await known(at)).toEqual({ 'a.txt': 'alpha', 'c.txt': 'charlie' });
    expect(drive.fetched).toHaveLength(1);
  });

  it.each([400, 404, 410])(
    'lists everything where the drive has forgotten the place in its changes (%d)',
    async (status) => {
      const at = await DriveKnowledge.withAccount(service);
      const top = drive.folder('Top');
      drive.text('a.txt', 'alpha', top);
      await at.synced([top]);
      drive.text('b.txt', 'bravo', top);
      drive.before = ({ path }, response) => {
        if (path !== '/drive/v3/changes') return false;
        json(response, status, refusal('invalid'));
        return true;
      };
      expect((await syncedAgain(at)).sync.state).toBe('SUCCESS');
      expect(await known(at)).toEqual({ 'a.txt': 'alpha', 'b.txt': 'bravo' });
      expect(drive.fetched).toHaveLength(1);
    },
  );

  it('reads at most as many files as a source may have', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const top = drive.folder('Top');
    await at.synced([top]);
    await service.database.query(
      `insert into drive_items (source_id, organization_id, file_id, kind, via, name, mime_type, seen_in, result)
       select s.id, s.organization_id, 'old-' || i, 'file', 'folder', 'old', 'text/plain', s.sync_id, 'indexed'
         from drive_sources s, generate_series(1, 1998) as i where s.agent_id = $1::uuid`,
      [at.agentId],
    );
    for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) drive.text(name, 'text', top);
    expect((await syncedAgain(at)).sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      lastError: expect.stringContaining('more than 2000 files'),
    });
    expect(Object.keys(await known(at))).toHaveLength(2);
  });
});

describe('a sync in progress', () => {
  it('is replaced by another selection', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const [old, fresh] = [drive.text('old.txt', 'alpha'), drive.text('new.txt', 'bravo')];
    const held = hold((path, query) => path.includes(old) && query.get('alt') === 'media');
    await at.put([old]);
    await until(() => held.reached(), 'the old file is being fetched');
    expect((await at.put([fresh])).body.sync.state).toBe('IN_PROGRESS');
    expect((await at.ended()).files).toMatchObject([{ id: fresh }]);
    held.release();
    await until(() => held.answered(), 'the old file is answered');
    expect((await syncedAgain(at)).sync.state).toBe('SUCCESS');
    expect(await known(at)).toEqual({ 'new.txt': 'bravo' });
  });

  it.each([0, 1, 2, 3, 4])(
    'whose worker is dead at its request number %d is taken up by another, and loses nothing',
    async (dies) => {
      const at = await DriveKnowledge.withAccount(service);
      const top = drive.folder('Top');
      for (const name of ['a.txt', 'b.txt']) drive.text(name, `text of ${name}`, top);
      // The first request is the look-up of the PUT itself.
      let seen = -2;
      const held = hold(() => (seen += 1) === dies);
      await at.put([top]);
      await until(() => held.reached(), 'the worker is at its request');
      const { id } = await sourceOf(at);
      // The time passes after which the other processes take over its work.
      await service.database.query("update drive_sources set due_at = '2020-01-01T00:00:00Z' where id = $1::uuid", [
        id,
      ]);
      await schedule();
      const view = await at.ended();
      held.release();
      expect(view.sync.state).toBe('SUCCESS');
      expect(await known(at)).toEqual({ 'a.txt': 'text of a.txt', 'b.txt': 'text of b.txt' });
    },
  );

  it('is run by one worker at a time', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const ids = Array.from({ length: 12 }, (_none, index) => drive.text(`${index}.txt`, `text ${index}`));
    const sync = service.app.get(SyncDriveSource, { strict: false });
    await at.put(ids);
    const source = await sourceOf(at);
    await until(async () => {
      await Promise.all([sync.execute(source, forever), sync.execute(source, forever), sync.execute(source, forever)]);
      return (await at.read()).body.sync.state === 'SUCCESS';
    }, 'the end of the sync');
    expect([...drive.fetched].sort()).toEqual([...ids].sort());
  });

  it('ends when the agent is deleted, and leaves no rows', async () => {
    const at = await DriveKnowledge.withAccount(service);
    await at.synced([drive.text('a.txt', 'alpha')]);
    await service.http('DELETE', `/v1/agents/${at.agentId}`, { key: at.key });
    const left = `select (select count(*) from drive_sources where agent_id = $1::uuid) + (select count(*) from knowledge_documents where agent_id = $1::uuid) as count`;
    await until(
      async () => Number((await service.database.query<{ count: unknown }>(left, [at.agentId]))[0]?.count) === 0,
      'nothing left',
    );
    expect((await at.accounts()).body.serviceAccounts).toMatchObject([{ agentCount: 0 }]);
  });

  it('ends when the settings are deleted', async () => {
    const at = await DriveKnowledge.withAccount(service);
    await at.synced([drive.text('a.txt', 'alpha')]);
    expect((await at.remove('drive-service-account')).status).toBe(204);
    expect((await at.read()).status).toBe(404);
    expect((await at.remove('drive-service-account')).status).toBe(404);
    await until(async () => Object.keys(await known(at)).length === 0, 'no documents');
    expect((await at.synced([drive.text('b.txt', 'bravo')])).sync.state).toBe('SUCCESS');
  });
});

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
    expect(Object.keys(await known(at)).map((title) => title.length)).toEqual([1_000]);
  });

  it.each([
    ['another page', (page: number) => `page-${page}`, 50],
    ['the same page', () => 'page', 2],
  ])(
    'with empty pages that lead to %s for ever makes a sync fail, and no file counts as missing',
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
      expect(await known(at)).toEqual({ 'a.txt': 'alpha' });
      drive.before = undefined;
      expect((await syncedAgain(at)).sync).toMatchObject({ state: 'SUCCESS', lastError: null });
    },
  );

  it.each([
    ['what is no JSON', (response: Parameters<typeof json>[0]) => response.writeHead(200).end('{"half')],
    [
      'something that does not match its API',
      (response: Parameters<typeof json>[0]) => json(response, 200, { files: 'none' }),
    ],
    [
      'a redirect',
      (response: Parameters<typeof json>[0]) =>
        response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
    ],
    [
      'more than is read',
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
    const source = await sourceOf(at);
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

/** Holds the first matching request until it is released. */
function hold(isMeant: (path: string, query: URLSearchParams) => boolean): {
  reached: () => boolean;
  answered: () => boolean;
  release: () => void;
} {
  let [isReached, isAnswered] = [false, false];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  drive.before = async ({ path, query }, response) => {
    if (isReached || !isMeant(path, query)) return false;
    isReached = true;
    response.on('close', () => (isAnswered = true));
    await released;
    return false;
  };
  return { reached: () => isReached, answered: () => isAnswered, release };
}
