import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AccessGuard } from '../../../src/access/http/access.guard.js';
import { Settings } from '../../../src/platform/config/index.js';
import { DomainError } from '../../../src/platform/errors/index.js';
import { FileStore, TempUploads } from '../../../src/platform/files/index.js';
import { OpenRequests } from '../../../src/platform/http/open-requests.js';
import { filePart, multipart } from '../../support/files.js';
import { startService, type TestOrganization, type TestService, until } from '../../support/harness.js';

const CONTENT = Buffer.alloc(300_000, 'content ');

let service: TestService;
let owner: TestOrganization;

// One service for each test, so that their spools are separate.
beforeEach(async () => {
  service = await startService();
  owner = await service.organization();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await service.close();
});

const dataDir = (): string => service.app.get(Settings).dataDir;
const spooled = (): Promise<string[]> => readdir(join(dataDir(), 'spool')).catch(() => []);
const spoolEmpties = (): Promise<void> => until(async () => (await spooled()).length === 0, 'the spool to be empty');
const allDisconnected = (): Promise<void> =>
  until(() => service.app.get(OpenRequests).count === 0, 'every client to disconnect');

const rows = (): Promise<{ id: string; status: string }[]> =>
  service.database.query('select id::text, status from files where organization_id = $1', [owner.id]);

/** Sends a whole upload over a separate connection; resolves when the last byte is sent. */
async function sendUpload(key: string): Promise<{ leave: () => void }> {
  const { port } = new URL(service.baseUrl);
  const { body, contentType } = multipart([filePart(CONTENT, 'application/x-thing')]);
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = [
    'POST /v1/files/upload HTTP/1.1',
    'host: service',
    `authorization: Bearer ${key}`,
    `content-type: ${contentType}`,
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.write(body, () => resolve()));
  return { leave: () => socket.destroy() };
}

/** Expects that every stored file of the organization is complete. */
async function expectWholeFiles(count?: number): Promise<void> {
  const stored = await rows();
  if (count !== undefined) expect(stored).toHaveLength(count);
  for (const { id, status } of stored) {
    expect(status).toBe('stored');
    expect(await readFile(join(dataDir(), 'files', 'uploads', owner.id, id))).toEqual(CONTENT);
  }
  expect(await readdir(join(dataDir(), 'files', '.drafts')).catch(() => [])).toEqual([]);
}

/** Makes a method wait until the test releases it, and resolves when it is called. */
function held<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
  at: 'before' | 'after',
): { called: Promise<undefined>; release: () => void; method: (...given: Arguments) => Promise<Result> } {
  const called = Promise.withResolvers<undefined>();
  const gate = Promise.withResolvers<undefined>();
  const method = async (...given: Arguments): Promise<Result> => {
    const result = at === 'after' ? await work(...given) : undefined;
    called.resolve(undefined);
    await gate.promise;
    return result ?? work(...given);
  };
  return { called: called.promise, release: () => gate.resolve(undefined), method };
}

/** The client disconnects while its upload is held and in the spool. After the release, nothing may be stored. */
async function expectNothingLeft(leave: () => void, holding: { readonly release: () => void }): Promise<void> {
  expect(await spooled()).toHaveLength(1);
  leave();
  await allDisconnected();
  holding.release();
  await spoolEmpties();
  await expectWholeFiles(0);
}

describe('an upload whose client disconnects', () => {
  it('after its last byte is stored completely, and removed from the spool only then', async () => {
    const store = service.app.get(FileStore);
    const put = held(store.put.bind(store), 'before');
    const puts = jest.spyOn(store, 'put').mockImplementation(put.method);
    const sent = await Promise.all(Array.from({ length: 8 }, () => sendUpload(owner.key)));
    await until(() => puts.mock.calls.length === sent.length, 'all to be in the handler');
    for (const { leave } of sent) leave();
    await allDisconnected();
    expect(await spooled()).toHaveLength(sent.length);
    put.release();
    await spoolEmpties();
    await until(async () => (await rows()).every(({ status }) => status === 'stored'), 'the files to be stored');
    await expectWholeFiles(sent.length);
  });

  it('while its end is being written is not handled', async () => {
    // Another instance for the same folder, whose method is not replaced.
    const spool = TempUploads.of(service.app.get(Settings));
    const taking = held(spool.take.bind(spool), 'after');
    jest.spyOn(TempUploads.prototype, 'take').mockImplementationOnce(taking.method);
    const put = jest.spyOn(service.app.get(FileStore), 'put');
    const { leave } = await sendUpload(owner.key);
    await taking.called;
    await expectNothingLeft(leave, taking);
    expect(put).not.toHaveBeenCalled();
  });

  it('before it is refused stores nothing', async () => {
    const asking = held(() => Promise.reject<boolean>(new DomainError('forbidden', 'No.')), 'before');
    jest.spyOn(AccessGuard.prototype, 'canActivate').mockImplementationOnce(asking.method);
    const { leave } = await sendUpload(owner.key);
    await asking.called;
    await expectNothingLeft(leave, asking);
  });

  it('before the store fails stores nothing', async () => {
    const store = service.app.get(FileStore);
    const put = held(() => Promise.reject<{ size: number }>(new Error('The disk failed')), 'before');
    jest.spyOn(store, 'put').mockImplementationOnce(put.method);
    const { leave } = await sendUpload(owner.key);
    await put.called;
    leave();
    await allDisconnected();
    expect(await spooled()).toHaveLength(1);
    put.release();
    await spoolEmpties();
    await until(async () => (await rows()).length === 0, 'the row to be deleted');
  });
});
