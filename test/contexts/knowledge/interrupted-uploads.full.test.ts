import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RemoveAgentData } from '../../../src/agents/jobs/remove-agent-data.job.js';
import { UnreadableDocument } from '../../../src/knowledge/parsing/domain/parsing.errors.js';
import { DocumentIndex } from '../../../src/knowledge/index/application/indexing/document-index.js';
import { CheckUploadsProcessor } from '../../../src/knowledge/uploads/jobs/check-uploads.job.js';
import { UploadScheduler } from '../../../src/knowledge/uploads/application/upload-scheduler.js';
import { ParseUploadProcessor } from '../../../src/knowledge/uploads/jobs/run-uploads.job.js';
import { DocumentParser } from '../../../src/knowledge/parsing/application/document-parser.js';
import { Settings } from '../../../src/platform/config/index.js';
import { FileStore, FileStoreUnavailable } from '../../../src/platform/files/index.js';
import { filePart } from '../../support/files.js';
import { type TestOrganization, until, useService } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import {
  addFile,
  filesPath,
  type KnowledgeFile,
  learn,
  listFiles,
  type Owner,
  postKnowledge,
  searchKnowledge,
  settledFiles,
} from '../../support/knowledge.js';
import { ShiftedClock } from '../../support/shifted-clock.js';

const HOUR_MS = 3_600_000;
/** Attempts that the job has made before its last one. */
const LAST_ATTEMPT = 7;

const clock = new ShiftedClock();
const service = useService({ clock });
let organization: TestOrganization;
let owner: Owner;
let held: Held[] = [];

beforeEach(async () => {
  organization = await service.organization();
  owner = { key: organization.key, agentId: await service.agent(organization.key) };
});
afterEach(async () => {
  for (const one of held) one.release();
  await Promise.all(held.map(({ ended }) => ended()));
  held = [];
  jest.restoreAllMocks();
});

const store = (): FileStore => service.app.get(FileStore);
const parser = (): DocumentParser => service.app.get(DocumentParser, { strict: false });
const index = (): DocumentIndex => service.app.get(DocumentIndex, { strict: false });
const check = (): Promise<void> => service.app.get(CheckUploadsProcessor, { strict: false }).process(activeJob({}));

/** Runs the job of a file again, as another worker does. */
function parseAgain({ id }: Pick<KnowledgeFile, 'id'>, attemptsMade = 0, signal?: AbortSignal): Promise<void> {
  const job = activeJob({ organizationId: organization.id, agentId: owner.agentId, fileId: id }, signal);
  return service.app.get(ParseUploadProcessor, { strict: false }).process(Object.assign(job, { attemptsMade }));
}

/** Enqueues no files, so that only the test makes attempts. */
function withoutQueue(): void {
  jest.spyOn(service.app.get(UploadScheduler, { strict: false }), 'enqueueNext').mockResolvedValue(undefined);
}

interface Held {
  readonly reached: Promise<unknown>;
  readonly release: () => void;
  /** Resolves when the held call has ended; at once if there was none. */
  readonly ended: () => Promise<unknown>;
}

type Work = (...given: unknown[]) => Promise<unknown>;

/** Stops the next call of a method, as if its process died. `release` continues it, as if the process was only slow. */
function hold(
  target: FileStore | DocumentParser | DocumentIndex,
  method: 'get' | 'put' | 'parse',
  at: 'before' | 'after',
): Held {
  const [reached, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const methods = target as unknown as Record<typeof method, Work>;
  const original = methods[method].bind(target);
  let running: Promise<unknown> = Promise.resolve();
  const stopped: Work = async (...given) => {
    const done = at === 'after' ? await original(...given) : undefined;
    reached.resolve(undefined);
    await gate.promise;
    return at === 'after' ? done : original(...given);
  };
  jest.spyOn(methods, method).mockImplementationOnce((...given) => (running = stopped(...given)));
  const one = {
    reached: reached.promise,
    release: () => gate.resolve(undefined),
    ended: () => running.catch(() => undefined),
  };
  held.push(one);
  return one;
}

const STEPS: readonly [string, () => Held][] = [
  ['has begun', () => hold(store(), 'get', 'before')],
  ['has opened the file', () => hold(store(), 'get', 'after')],
  ['is parsing', () => hold(parser(), 'parse', 'before')],
  ['has parsed', () => hold(parser(), 'parse', 'after')],
  ['is about to store the document', () => hold(index(), 'put', 'before')],
  ['has stored the document', () => hold(index(), 'put', 'after')],
];

async function rows(): Promise<unknown[]> {
  return service.database.query(
    `select 'upload' as what, id::text from knowledge_uploads where organization_id = $1::uuid
     union all select 'document', id::text from knowledge_documents where organization_id = $1::uuid
     union all select 'chunk', id::text from knowledge_chunks where organization_id = $1::uuid`,
    [organization.id],
  );
}

const onDisk = (): Promise<string[]> =>
  readdir(join(service.app.get(Settings).dataDir, 'files', 'knowledge', organization.id)).catch(() => []);

/** Waits until nothing is left of the organization's knowledge, rows and bytes alike. */
async function expectNothingLeft(): Promise<void> {
  await until(async () => (await rows()).length === 0 && (await onDisk()).length === 0, 'everything to be removed');
}

describe.each(STEPS)('when the process that %s dies', (_step, stop) => {
  it('another one does the work once, and the first one changes nothing if it was only slow', async () => {
    const first = stop();
    const file = await addFile(service, owner, 'about lions');
    await first.reached;
    await parseAgain(file);
    const [ready] = await listFiles(service, owner);
    expect(ready).toMatchObject({ id: file.id, status: 'ready', chunks: 1 });
    const stored = await rows();
    expect(stored).toHaveLength(3);
    first.release();
    await first.ended();
    expect(await rows()).toEqual(stored);
    expect(await listFiles(service, owner)).toEqual([ready]);
    expect(await searchKnowledge(service, owner, 'lions')).toHaveLength(1);
  });

  it('and the file is deleted meanwhile, the file is not restored', async () => {
    const first = stop();
    const { id } = await addFile(service, owner, 'about lions');
    await first.reached;
    expect((await service.http('DELETE', `${filesPath(owner)}/${id}`, { key: owner.key })).status).toBe(204);
    expect(await searchKnowledge(service, owner, 'lions')).toEqual([]);
    first.release();
    await first.ended();
    await expectNothingLeft();
  });

  it('and the agent is deleted meanwhile, nothing is stored', async () => {
    const first = stop();
    await addFile(service, owner, 'about lions');
    await first.reached;
    expect((await service.http('DELETE', `/v1/agents/${owner.agentId}`, { key: owner.key })).status).toBe(200);
    first.release();
    await first.ended();
    await expectNothingLeft();
  });
});

describe('a file without a fault of its own', () => {
  it.each<[string, () => unknown]>([
    [
      'the store is unavailable',
      () => jest.spyOn(store(), 'get').mockRejectedValue(new FileStoreUnavailable(new Error('unavailable'))),
    ],
    ['the store has lost the content', () => jest.spyOn(store(), 'get').mockResolvedValue(null)],
    [
      'the parser fails',
      () => jest.spyOn(parser(), 'parse').mockRejectedValue(new Error('its process could not be started')),
    ],
    ['the index fails', () => jest.spyOn(index(), 'put').mockRejectedValue(new Error('a bug'))],
  ])(
    'stays processing between attempts while %s, and fails with a general reason after the last one',
    async (_what, fail) => {
      withoutQueue();
      fail();
      const file = await addFile(service, owner, 'about lions');
      await expect(parseAgain(file, LAST_ATTEMPT - 1)).rejects.toThrow();
      expect(await listFiles(service, owner)).toMatchObject([{ status: 'processing', error: null }]);
      await expect(parseAgain(file, LAST_ATTEMPT)).rejects.toThrow();
      expect(await listFiles(service, owner)).toMatchObject([
        { status: 'failed', error: expect.stringContaining('could not be processed') },
      ]);
      // As after the operator command `jobs retry`.
      jest.restoreAllMocks();
      await parseAgain(file);
      expect(await listFiles(service, owner)).toMatchObject([{ status: 'ready', error: null }]);
    },
  );

  it('loses no attempt and does not fail when its process stops', async () => {
    withoutQueue();
    jest.spyOn(parser(), 'parse').mockImplementation((_document, signal) => Promise.reject(signal.reason as Error));
    const file = await addFile(service, owner, 'about lions');
    const stopping = AbortSignal.abort(new Error('The process stops'));
    for (let stops = 0; stops < 12; stops += 1)
      await expect(parseAgain(file, LAST_ATTEMPT, stopping)).rejects.toThrow('stops');
    expect(await listFiles(service, owner)).toMatchObject([{ status: 'processing' }]);
    jest.restoreAllMocks();
    await parseAgain(file);
    expect(await listFiles(service, owner)).toMatchObject([{ status: 'ready' }]);
  });

  it('fails after a check if it crashes its process each time', async () => {
    const dead = Promise.withResolvers<never>();
    const parse = jest.spyOn(parser(), 'parse').mockImplementation(() => dead.promise);
    const file = await addFile(service, owner, 'about lions');
    await until(() => parse.mock.calls.length === 1, 'the job to have begun');
    await service.database.query('update knowledge_uploads set attempts = 8 where id = $1::uuid', [file.id]);
    await service.database.query('delete from outbox where payload::text like $1', [`%${file.id}%`]);
    await check();
    expect(await listFiles(service, owner)).toMatchObject([{ status: 'processing' }]);
    clock.moveOn(HOUR_MS);
    await check();
    expect(await settledFiles(service, owner)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('could not be processed') },
    ]);
    expect(parse).toHaveBeenCalledTimes(1);
    // Otherwise the service would wait for it when it stops.
    dead.reject(new Error('unavailable'));
  });
});

describe('two workers on one file', () => {
  it('store one document, whichever is faster', async () => {
    const file = await addFile(service, owner, 'about lions');
    await Promise.all([parseAgain(file), parseAgain(file), parseAgain(file)]);
    expect(await settledFiles(service, owner)).toMatchObject([{ status: 'ready' }]);
    expect(await rows()).toHaveLength(3);
  });

  it('cannot change a ready file to failed', async () => {
    const slow = hold(parser(), 'parse', 'before');
    const file = await addFile(service, owner, 'about lions');
    await slow.reached;
    await parseAgain(file);
    jest.spyOn(parser(), 'parse').mockRejectedValue(new UnreadableDocument('broken', 'It is broken.'));
    slow.release();
    await slow.ended();
    await parseAgain(file);
    expect(await listFiles(service, owner)).toMatchObject([{ status: 'ready', error: null }]);
  });
});

describe('data that dead processes have left', () => {
  it('is removed by the check: incomplete contents and interrupted removals', async () => {
    const [kept, unfinished, removing] = await learn(service, owner, 'one', 'two', 'three');
    await service.database.query(`update knowledge_uploads set status = 'pending' where id = $1::uuid`, [
      unfinished?.id,
    ]);
    await service.database.query(`update knowledge_uploads set status = 'removing' where id = $1::uuid`, [
      removing?.id,
    ]);
    expect(await listFiles(service, owner)).toHaveLength(1);
    await check();
    expect(await onDisk()).toHaveLength(3);
    clock.moveOn(2 * HOUR_MS);
    await check();
    await until(async () => (await onDisk()).length === 1 && (await rows()).length === 3, 'the rest to be removed');
    expect(await listFiles(service, owner)).toMatchObject([{ id: kept?.id, status: 'ready' }]);
  });

  it('is removed later if the store is unavailable, and the deletion is answered at once', async () => {
    const [file] = await learn(service, owner, 'about lions');
    const away = jest.spyOn(store(), 'remove').mockRejectedValue(new FileStoreUnavailable(new Error('unavailable')));
    expect((await service.http('DELETE', `${filesPath(owner)}/${file?.id ?? ''}`, { key: owner.key })).status).toBe(
      204,
    );
    expect(await listFiles(service, owner)).toEqual([]);
    await until(() => away.mock.calls.length > 0, 'the job to call the store');
    away.mockRestore();
    clock.moveOn(HOUR_MS);
    await check();
    await expectNothingLeft();
  });
});

describe('a deleted agent', () => {
  it('loses all documents and contents, and other agents keep theirs', async () => {
    const other = { key: owner.key, agentId: await service.agent(owner.key) };
    await learn(service, owner, 'about lions', 'about tigers');
    await learn(service, other, 'about bears');
    for (const kind of ['website', 'drive'] as const) {
      // The same text twice would be one result.
      const parsed = {
        format: 'html',
        title: null,
        language: null,
        page: null,
        blocks: [{ kind: 'text', text: `about wolves of a ${kind}` }],
      } as const;
      const key = `https://example.com/${kind}`;
      await index().put(
        { organizationId: organization.id, agentId: owner.agentId, kind, key, title: kind, url: key, scope: null },
        parsed,
      );
    }
    expect(await searchKnowledge(service, owner, 'wolves')).toHaveLength(2);
    expect((await service.http('DELETE', `/v1/agents/${owner.agentId}`, { key: owner.key })).status).toBe(200);
    await until(
      async () => (await rows()).length === 3 && (await onDisk()).length === 1,
      'its knowledge to be removed',
    );
    expect(await searchKnowledge(service, other, 'bears')).toHaveLength(1);
  });

  it('leaves nothing of a file that is being stored, and the upload is answered with 404', async () => {
    const storing = hold(store(), 'put', 'after');
    const answer = postKnowledge(service, owner, filePart('about lions'));
    await storing.reached;
    expect((await service.http('DELETE', `/v1/agents/${owner.agentId}`, { key: owner.key })).status).toBe(200);
    storing.release();
    expect(await answer).toMatchObject({ status: 404, body: { error: 'not_found' } });
    await expectNothingLeft();
  });

  it('has its remaining uploads removed by the hourly job, in several batches', async () => {
    await service.database.query(
      `insert into knowledge_uploads (id, organization_id, agent_id, name, content_type, size, status, chunks, bytes, attempts, created_at, changed_at)
       select gen_random_uuid(), $1::uuid, gen_random_uuid(), 'x', 'text/plain', 1, 'ready', 0, 0, 1, now(), now() from generate_series(1, 2)
       union all select gen_random_uuid(), $1::uuid, $1::uuid, 'x', 'text/plain', 1, 'processing', 0, 0, 1, now(), now() from generate_series(1, 230)`,
      [organization.id],
    );
    await service.app.get(RemoveAgentData, { strict: false }).process(activeJob({ agent: null }));
    await expectNothingLeft();
  });
});
