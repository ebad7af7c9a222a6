import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { FileDirectory, FileHolders } from '../../../src/files/index.js';
import { RemoveUnusedFiles } from '../../../src/files/jobs/remove-unused-files.job.js';
import { Settings } from '../../../src/platform/config/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { filePart, upload, type UploadedAnswer } from '../../support/files.js';
import { type TestOrganization, useService } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import { ShiftedClock } from '../../support/shifted-clock.js';

const DAY_MS = 86_400_000;

const clock = new ShiftedClock();
const service = useService({ clock });
let owner: TestOrganization;
const held = new Set<string>();

beforeAll(() => {
  service.app.get(FileHolders, { strict: false }).register({
    holds: (ids) => Promise.resolve(ids.filter((id) => held.has(id))),
  });
});
beforeEach(async () => {
  owner = await service.organization();
});

async function uploaded(): Promise<UploadedAnswer> {
  return (await upload(service, owner.key, filePart('x'))).body;
}

const clean = (): Promise<void> => service.app.get(RemoveUnusedFiles, { strict: false }).process(activeJob({}));

async function left(): Promise<string[]> {
  const rows = await service.database.query<{ id: string }>(
    'select id from files where organization_id = $1 order by id',
    [owner.id],
  );
  const onDisk = await readdir(join(service.app.get(Settings).dataDir, 'files', 'uploads', owner.id)).catch(() => []);
  expect(onDisk.sort()).toEqual(rows.map(({ id }) => id));
  return onDisk;
}

it('an upload that was not used for 30 days is removed, content and row', async () => {
  const { id, url } = await uploaded();
  clock.moveOn(30 * DAY_MS - 30_000);
  await clean();
  expect(await left()).toEqual([id]);
  clock.moveOn(60_000);
  await clean();
  expect(await left()).toEqual([]);
  expect(await service.app.get(FileDirectory, { strict: false }).open(owner.id, url)).toBeNull();
});

it('an upload that was used is kept for 30 more days', async () => {
  const [used, unused] = [await uploaded(), await uploaded()];
  clock.moveOn(20 * DAY_MS);
  await service.app.get(FileDirectory, { strict: false }).open(owner.id, used.url);
  clock.moveOn(20 * DAY_MS);
  await clean();
  expect(await left()).toEqual([used.id]);
  expect(unused.id).not.toBe(used.id);
  clock.moveOn(11 * DAY_MS);
  await clean();
  expect(await left()).toEqual([]);
});

it('an upload that something refers to is kept, and removed when nothing does', async () => {
  const { id } = await uploaded();
  held.add(id);
  clock.moveOn(400 * DAY_MS);
  await clean();
  expect(await left()).toEqual([id]);
  held.delete(id);
  await clean();
  expect(await left()).toEqual([]);
});

it('all unused uploads are removed, also more than one statement reads, and others are kept', async () => {
  const ids = Array.from({ length: 230 }, () => newId());
  await service.database.query(
    `insert into files (id, organization_id, name, content_type, size, status, created_at, used_at)
     select id, $2, 'x', 'text/plain', 1, 'stored', $3, $3 from unnest($1::uuid[]) as id`,
    [ids, owner.id, clock.now().toISOString()],
  );
  for (const id of ids.slice(0, 110)) held.add(id);
  clock.moveOn(31 * DAY_MS);
  await clean();
  const rows = await service.database.query('select id from files where organization_id = $1', [owner.id]);
  expect(rows).toHaveLength(110);
  held.clear();
});

it('unfinished uploads and removals of a process that died are completed', async () => {
  const [pending, removing] = [await uploaded(), await uploaded()];
  await service.database.query(`update files set status = 'pending' where id = $1`, [pending.id]);
  await service.database.query(`update files set status = 'removing' where id = $1`, [removing.id]);
  await clean();
  expect(await left()).toEqual([pending.id]);
  clock.moveOn(DAY_MS + 60_000);
  await clean();
  expect(await left()).toEqual([]);
});
