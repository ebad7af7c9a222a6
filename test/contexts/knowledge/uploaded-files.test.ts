import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ReadUploads } from '../../../src/knowledge/uploads/application/read-uploads.js';
import { UnreadableDocument } from '../../../src/knowledge/parsing/domain/parsing.errors.js';
import { DocumentParser } from '../../../src/knowledge/parsing/application/document-parser.js';
import { Settings } from '../../../src/platform/config/index.js';
import { FileStore, FileStoreUnavailable } from '../../../src/platform/files/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { filePart, type Part, PNG } from '../../support/files.js';
import { type TestOrganization, until, useService } from '../../support/harness.js';
import {
  addFile,
  filesPath,
  learn,
  listFiles,
  type Owner,
  postKnowledge,
  searchKnowledge,
  settledFiles,
} from '../../support/knowledge.js';

const service = useService();
let organization: TestOrganization;
let owner: Owner;

beforeEach(async () => {
  jest.restoreAllMocks();
  organization = await service.organization();
  owner = { key: organization.key, agentId: await service.agent(organization.key) };
});

const onDisk = (): Promise<string[]> =>
  readdir(join(service.app.get(Settings).dataDir, 'files', 'knowledge', organization.id)).catch(() => []);
const remove = (id: string, key = owner.key, agentId = owner.agentId) =>
  service.http('DELETE', `${filesPath({ agentId })}/${id}`, { key });

async function expectNothingStored(): Promise<void> {
  expect(
    await service.database.query('select id from knowledge_uploads where organization_id = $1::uuid', [
      organization.id,
    ]),
  ).toEqual([]);
  expect(await onDisk()).toEqual([]);
}

describe('an uploaded file', () => {
  it('is processed, then ready, found under its id and name, and listed with its size in the index', async () => {
    const answer = await postKnowledge(
      service,
      owner,
      filePart('The harbour opens at seven.', 'text/plain; charset=utf-8', 'hours of work.txt'),
    );
    const { id, createdAt } = answer.body;
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.body).toEqual({
      ...{ id, createdAt, name: 'hours of work.txt', contentType: 'text/plain', size: 27, status: 'processing' },
      ...{ error: null, scope: null, chunks: 0, bytes: 0 },
    });
    const [file] = await settledFiles(service, owner);
    expect(file).toEqual({ ...answer.body, status: 'ready', chunks: 1, bytes: expect.any(Number) });
    expect(file?.bytes).toBeGreaterThan(0);
    expect(await searchKnowledge(service, owner, 'harbour')).toMatchObject([
      {
        sourceId: id,
        kind: 'upload',
        title: 'hours of work.txt',
        url: null,
        text: expect.stringContaining('harbour opens'),
      },
    ]);
    expect(await onDisk()).toEqual([id]);
  });

  it('is listed before those that were uploaded earlier', async () => {
    const ids: string[] = [];
    for (const content of ['one', 'two', 'three']) ids.unshift((await addFile(service, owner, content)).id);
    expect((await listFiles(service, owner)).map(({ id }) => id)).toEqual(ids);
    await settledFiles(service, owner);
  });

  it('is listed with 2,000 others of large scopes without blocking the event loop', async () => {
    const scope = JSON.stringify(
      Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`key-${at}`, 'x'.repeat(115)])),
    );
    await service.database.query(
      `insert into knowledge_uploads (id, organization_id, agent_id, name, content_type, size, scope, status, chunks, bytes, attempts, created_at, changed_at)
       select gen_random_uuid(), $1::uuid, $2::uuid, 'x.txt', 'text/plain', 1, $3::text::jsonb, 'ready', 1, 1, 1, now(), now() from generate_series(1, 2000)`,
      [organization.id, owner.agentId, scope],
    );
    let [rounds, isRead] = [0, false];
    const count = (): void => {
      rounds += 1;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);
    const files = await service.app.get(ReadUploads, { strict: false }).ofAgent(organization.id, owner.agentId);
    isRead = true;
    expect(files).toHaveLength(2_000);
    expect(rounds).toBeGreaterThanOrEqual(20);
    const listed = await listFiles(service, owner);
    expect(listed.map(({ id }) => id)).toEqual(files.map(({ id }) => id));
    expect(listed[0]?.scope).toEqual(JSON.parse(scope));
  });

  it('has the title of its document, if there is one', async () => {
    const content = '<title>Opening hours</title><body><p>The harbour opens at seven.</p></body>';
    await learn(service, owner, { content, name: 'hours.html', contentType: 'text/html' });
    expect(await searchKnowledge(service, owner, 'harbour')).toMatchObject([{ title: 'Opening hours' }]);
  });

  it('without content is accepted, and fails with a reason', async () => {
    await addFile(service, owner, '');
    expect(await settledFiles(service, owner)).toMatchObject([
      { size: 0, status: 'failed', error: expect.stringMatching(/empty/i), chunks: 0 },
    ]);
    expect(await searchKnowledge(service, owner, 'empty')).toEqual([]);
  });

  it('of a type that cannot be read is accepted, and fails with the reason', async () => {
    const parser = service.app.get(DocumentParser, { strict: false });
    jest
      .spyOn(parser, 'parse')
      .mockRejectedValueOnce(new UnreadableDocument('unsupported_type', 'Pictures are not read.'));
    const answer = await postKnowledge(service, owner, filePart(PNG, 'image/png', 'picture.png'), {
      name: 'scope',
      value: '{}',
    });
    expect(answer).toMatchObject({
      status: 201,
      body: { contentType: 'image/png', status: 'processing', scope: null },
    });
    expect(await settledFiles(service, owner)).toMatchObject([{ status: 'failed', error: 'Pictures are not read.' }]);
  });

  it('of an agent with the most files allowed is refused, and nothing is stored', async () => {
    await service.database.query(
      `insert into knowledge_uploads (id, organization_id, agent_id, name, content_type, size, status, chunks, bytes, attempts, created_at, changed_at)
       select gen_random_uuid(), $1::uuid, $2::uuid, 'x', 'text/plain', 1, 'ready', 1, 1, 1, now(), now() from generate_series(1, 2000)`,
      [organization.id, owner.agentId],
    );
    const answer = await postKnowledge(service, owner, filePart('one more'));
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'unprocessable_entity', message: expect.stringContaining('2000') },
    });
    expect(await onDisk()).toEqual([]);
    const listed = await listFiles(service, owner);
    expect(listed).toHaveLength(2_000);
    expect(listed.map(({ id }) => id)).toEqual(
      listed
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
  });
});

describe('a form', () => {
  const withScope = (value: string): readonly Part[] => [filePart('x'), { name: 'scope', value }];
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, index]));
  it.each<[string, readonly Part[], string]>([
    ['without the file', [], 'body/file is required'],
    ['with an unknown field', [filePart('x'), { name: 'title', value: 'x' }], 'body/title is not allowed'],
    ['with a scope that is not JSON', withScope('{plan: 1}'), 'body/scope must be a JSON object'],
    ['with a scope that is a list', withScope('["gold"]'), 'body/scope must be a JSON object'],
    ['with a scope that is null', withScope('null'), 'body/scope must be a JSON object'],
    ['with an empty scope', withScope(''), 'body/scope must be a JSON object'],
    ['with a nested scope', withScope('{"plan":{"name":"gold"}}'), 'body/scope/plan must be'],
    ['with null in the scope', withScope('{"plan":null}'), 'body/scope/plan must be'],
    ['with an infinite number in the scope', withScope('{"plan":1e999}'), 'body/scope/plan must be'],
    [
      'with a number in the scope that would be rounded',
      withScope('{"plan":9007199254740993}'),
      'body/scope/plan must be',
    ],
    [
      'with a negative number in the scope that would be rounded',
      withScope('{"plan":-9007199254740993}'),
      'body/scope/plan must be',
    ],
    ['with 17 entries in the scope', withScope(JSON.stringify(many)), 'body/scope must have at most 16 entries'],
    ['with an empty key in the scope', withScope('{"":1}'), 'body/scope must have keys of 1 to 255'],
    [
      'with a long key in the scope',
      withScope(JSON.stringify({ ['k'.repeat(256)]: 1 })),
      'body/scope must have keys of 1 to 255',
    ],
    [
      'with a long value in the scope',
      withScope(JSON.stringify({ plan: 'x'.repeat(1_001) })),
      'body/scope/plan must be',
    ],
    ['with U+0000 in the scope', withScope('{"plan":"a\\u0000"}'), 'body/scope/plan must be'],
    ['with a lone surrogate in the scope', withScope('{"plan":"\\ud800"}'), 'body/scope/plan must be'],
    ['with two files', [filePart('x'), filePart('y')], 'body/file must be given once'],
  ])('%s is refused, and nothing is stored', async (_what, parts, message) => {
    const answer = await postKnowledge<{ message: string }>(service, owner, ...parts);
    expect(answer).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION', error: 'bad_request' } });
    expect(answer.body.message).toContain(message);
    await expectNothingStored();
  });

  it('with the largest scope is accepted, and the scope is returned', async () => {
    const scope = {
      ...Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`k${index}`, 'x'])),
      ['😀'.repeat(255)]: true,
      n: Number.MAX_SAFE_INTEGER,
    };
    const file = await addFile(service, owner, { content: 'x', scope });
    expect(file.scope).toEqual(scope);
    expect((await settledFiles(service, owner))[0]?.scope).toEqual(scope);
  });

  it('of 50 MB and a byte is refused with 413, and nothing is stored', async () => {
    const answer = await postKnowledge(
      service,
      owner,
      filePart(Buffer.alloc(50 * 1024 * 1024 + 1), 'application/x-zeros'),
    );
    expect(answer).toMatchObject({ status: 413, body: { code: 'FST_ERR_CTP_BODY_TOO_LARGE' } });
    await expectNothingStored();
  });

  it('whose file the store refuses is answered with 503, and nothing is stored', async () => {
    jest.spyOn(service.app.get(FileStore), 'put').mockRejectedValueOnce(new FileStoreUnavailable(new Error('full')));
    expect(await postKnowledge(service, owner, filePart('x'))).toMatchObject({
      status: 503,
      body: { error: 'service_unavailable' },
    });
    await expectNothingStored();
  });
});

describe('a deleted file', () => {
  it('is removed from the list, from the search and from the store', async () => {
    const [kept, deleted] = await learn(service, owner, 'about lions', 'about tigers and lions');
    expect(await searchKnowledge(service, owner, 'lions')).toHaveLength(2);
    expect(await remove(deleted?.id ?? '')).toMatchObject({ status: 204, text: '' });
    expect(await listFiles(service, owner)).toMatchObject([{ id: kept?.id }]);
    expect(await searchKnowledge(service, owner, 'lions')).toMatchObject([{ sourceId: kept?.id }]);
    await until(async () => (await onDisk()).length === 1, 'the content to be removed');
    expect(await remove(deleted?.id ?? '')).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });

  it('that had failed is removed too', async () => {
    const { id } = await addFile(service, owner, '');
    await settledFiles(service, owner);
    expect((await remove(id)).status).toBe(204);
    await until(async () => (await onDisk()).length === 0, 'the content to be removed');
    await until(
      async () =>
        (await service.database.query('select 1 from knowledge_uploads where id = $1::uuid', [id])).length === 0,
      'its row to be removed',
    );
  });
});

describe('no other caller', () => {
  it('sees, adds or deletes files: keys without the capability, other agents, other organizations', async () => {
    const { id } = (await learn(service, owner, 'a secret of ours'))[0] ?? { id: '' };
    const chat = await organization.keyWith(['chat']);
    expect((await service.http('GET', filesPath(owner), chat)).status).toBe(200);
    expect(await postKnowledge(service, { ...owner, key: chat.key }, filePart('x'))).toMatchObject({ status: 403 });
    expect(await remove(id, chat.key)).toMatchObject({ status: 403 });

    const otherAgent = await service.agent(owner.key);
    expect(await remove(id, owner.key, otherAgent)).toMatchObject({ status: 404 });
    expect(await searchKnowledge(service, { ...owner, agentId: otherAgent }, 'secret')).toEqual([]);
    const elsewhere = await organization.keyWith(['manageAgents'], [otherAgent]);
    expect((await service.http('GET', filesPath(owner), elsewhere)).status).toBe(403);
    expect((await remove(id, elsewhere.key)).status).toBe(403);

    const stranger = await service.organization();
    const theirs = await service.agent(stranger.key);
    const [absent, foreign] = [await remove(newId(), stranger.key, theirs), await remove(id, stranger.key, theirs)];
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    expect((await service.http('GET', filesPath(owner), stranger)).status).toBe(404);
    expect(await postKnowledge(service, { ...owner, key: stranger.key }, filePart('x'))).toMatchObject({ status: 404 });
    expect(await listFiles(service, owner)).toMatchObject([{ id, status: 'ready' }]);
  });
});
