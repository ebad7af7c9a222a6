import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SyncDriveSource } from '../../../src/knowledge/drive/application/sync/sync-drive-source.js';
import { DriveKnowledge } from '../../support/drive-knowledge.js';
import { DriveServer, json, refusal } from '../../support/drive-server.js';
import { until, useService } from '../../support/harness.js';
import { DriveSyncs } from './drive-syncs.js';

const drive = await DriveServer.start();
const service = useService({ environment: drive.environment });
const syncs = new DriveSyncs(service, drive);
const forever = new AbortController().signal;

beforeEach(() => drive.reset());
afterAll(() => drive.close());

describe('a sync that is repeated', () => {
  it('keeps the error of the one before until it ends', async () => {
    const at = await DriveKnowledge.withAccount(service);
    await at.synced([drive.text('a.txt', 'alpha')]);
    drive.refusal = () => 'invalid_grant';
    drive.revokeTokens();
    expect((await syncs.repeat(at)).sync.lastError).toContain('invalid_grant');
    drive.refusal = undefined;
    const held = syncs.hold((path) => path.includes('/changes'));
    const again = syncs.repeat(at);
    await until(() => held.reached(), 'a request to the drive');
    expect((await at.read()).body.sync).toMatchObject({
      state: 'IN_PROGRESS',
      lastError: expect.stringContaining('invalid_grant'),
    });
    held.release();
    expect((await again).sync).toMatchObject({ state: 'SUCCESS', lastError: null });
  });

  it('requests only the changes, and fetches the changed files', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const top = drive.folder('Top');
    const [a, b, c] = [
      drive.text('a.txt', 'alpha', top),
      drive.text('b.txt', 'bravo', top),
      drive.text('c.txt', 'charlie', top),
    ];
    drive.text('d.txt', 'delta', top);
    await at.synced([top]);
    expect((await syncs.repeat(at)).sync.state).toBe('SUCCESS');
    expect(drive.requests.map(({ path }) => path)).toEqual(['/drive/v3/changes']);
    drive.change(a, { content: 'alpha two' });
    drive.change(b, { trashed: true });
    drive.remove(c);
    drive.text('e.txt', 'echo', top);
    drive.text('outside.txt', 'foxtrot');
    expect((await syncs.repeat(at)).sync.state).toBe('SUCCESS');
    expect(await syncs.documents(at)).toEqual({ 'a.txt': 'alpha two', 'd.txt': 'delta', 'e.txt': 'echo' });
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
    expect((await syncs.repeat(at)).sync.state).toBe('SUCCESS');
    expect(await syncs.documents(at)).toEqual({ 'a.txt': 'alpha', 'c.txt': 'charlie' });
    expect(drive.fetched).toHaveLength(1);
  });

  it.each([400, 404, 410])(
    'lists everything if the drive no longer accepts the token of its changes (%d)',
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
      expect((await syncs.repeat(at)).sync.state).toBe('SUCCESS');
      expect(await syncs.documents(at)).toEqual({ 'a.txt': 'alpha', 'b.txt': 'bravo' });
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
    expect((await syncs.repeat(at)).sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      lastError: expect.stringContaining('more than 2000 files'),
    });
    expect(Object.keys(await syncs.documents(at))).toHaveLength(2);
  });
});

describe('a sync in progress', () => {
  it('is replaced by another selection', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const [old, fresh] = [drive.text('old.txt', 'alpha'), drive.text('new.txt', 'bravo')];
    const held = syncs.hold((path, query) => path.includes(old) && query.get('alt') === 'media');
    await at.put([old]);
    await until(() => held.reached(), 'the old file is being fetched');
    expect((await at.put([fresh])).body.sync.state).toBe('IN_PROGRESS');
    expect((await at.ended()).files).toMatchObject([{ id: fresh }]);
    held.release();
    await until(() => held.answered(), 'the old file is answered');
    expect((await syncs.repeat(at)).sync.state).toBe('SUCCESS');
    expect(await syncs.documents(at)).toEqual({ 'new.txt': 'bravo' });
  });

  it.each([0, 1, 2, 3, 4])('is completed by another worker if its worker dies at request number %d', async (dies) => {
    const at = await DriveKnowledge.withAccount(service);
    const top = drive.folder('Top');
    for (const name of ['a.txt', 'b.txt']) drive.text(name, `text of ${name}`, top);
    // The first request is the look-up of the PUT itself.
    let seen = -2;
    const held = syncs.hold(() => (seen += 1) === dies);
    await at.put([top]);
    await until(() => held.reached(), 'the worker is at its request');
    const { id } = await syncs.sourceOf(at);
    // The lease of the dead worker ends.
    await service.database.query("update drive_sources set due_at = '2020-01-01T00:00:00Z' where id = $1::uuid", [id]);
    await syncs.schedule();
    const view = await at.ended();
    held.release();
    expect(view.sync.state).toBe('SUCCESS');
    expect(await syncs.documents(at)).toEqual({ 'a.txt': 'text of a.txt', 'b.txt': 'text of b.txt' });
  });

  it('is run by one worker at a time', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const ids = Array.from({ length: 12 }, (_none, index) => drive.text(`${index}.txt`, `text ${index}`));
    const sync = service.app.get(SyncDriveSource, { strict: false });
    await at.put(ids);
    const source = await syncs.sourceOf(at);
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
    await until(async () => Object.keys(await syncs.documents(at)).length === 0, 'no documents');
    expect((await at.synced([drive.text('b.txt', 'bravo')])).sync.state).toBe('SUCCESS');
  });
});
