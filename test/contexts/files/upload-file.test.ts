import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { request as openRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Settings } from '../../../src/platform/config/index.js';
import { filePart, multipart, type Part, PDF, PNG, upload, type UploadedAnswer } from '../../support/files.js';
import { useService, type TestOrganization, until } from '../../support/harness.js';

const LIMIT = 52_428_800;

const service = useService();
let owner: TestOrganization;

beforeEach(async () => {
  owner = await service.organization();
});

const post = <Body = UploadedAnswer>(...parts: readonly Part[]): ReturnType<typeof upload<Body>> =>
  upload<Body>(service, owner.key, ...parts);

async function rows(organizationId = owner.id): Promise<{ id: string; status: string }[]> {
  return service.database.query('select id, status from files where organization_id = $1', [organizationId]);
}

const dataDir = (): string => service.app.get(Settings).dataDir;
const spooled = (): Promise<string[]> => readdir(join(dataDir(), 'spool')).catch(() => []);

/** Expects that the disk and the database have nothing of the request. */
async function expectNothingStored(): Promise<void> {
  expect(await rows()).toEqual([]);
  expect(await readdir(join(dataDir(), 'files', 'uploads', owner.id)).catch(() => [])).toEqual([]);
  await until(async () => (await spooled()).length === 0, 'the spool to be empty');
}

describe('an upload', () => {
  it('returns the stored file, and a URL that returns it byte for byte', async () => {
    const content = Buffer.from([...Array(256).keys()]);
    const answer = await post(filePart(content, 'application/x-thing', 'thing.bin'));
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['contentType', 'id', 'name', 'size', 'url']);
    expect(answer.body).toMatchObject({ name: 'thing.bin', contentType: 'application/x-thing', size: 256 });
    expect(answer.body.url.startsWith(`${service.baseUrl}/v1/files/${answer.body.id}/content?`)).toBe(true);
    const read = await fetch(answer.body.url);
    expect(Buffer.from(await read.arrayBuffer())).toEqual(content);
    expect(await rows()).toEqual([{ id: answer.body.id, status: 'stored' }]);
    expect(await readFile(join(dataDir(), 'files', 'uploads', owner.id, answer.body.id))).toEqual(content);
  });

  it('is accepted from the form of any client, whatever the order of its fields', async () => {
    const agent = await service.agent(owner.key);
    for (const order of ['before', 'after'] as const) {
      const form = new FormData();
      if (order === 'before') form.append('assistant_id', agent);
      form.append('file', new Blob(['hello'], { type: 'text/plain' }), 'grüße.txt');
      if (order === 'after') form.append('assistant_id', agent);
      const headers = { authorization: `Bearer ${owner.key}` };
      const response = await fetch(`${service.baseUrl}/v1/files/upload`, { method: 'POST', headers, body: form });
      expect(await response.json()).toMatchObject({ name: 'grüße.txt', contentType: 'text/plain', size: 5 });
    }
  });

  it('leaves nothing in the spool after the response', async () => {
    await post(filePart('x'));
    await until(async () => (await spooled()).length === 0, 'the spool to be empty');
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\docs\\\\a.txt', 'a.txt'],
    ['..', 'file'],
    ['', 'file'],
    ['a\u202egnp.exe', 'a_gnp.exe'],
    ['x'.repeat(300), 'x'.repeat(255)],
  ])('has a name without a path and special characters (%j)', async (given, expected) => {
    expect((await post(filePart('x', 'text/plain', given))).body.name).toBe(expected);
  });

  it.each([
    ['image/png', PNG, 'image/png'],
    ['image/jpg', Buffer.from('ffd8ffe0', 'hex'), 'image/jpeg'],
    ['application/pdf', PDF, 'application/pdf'],
    ['application/octet-stream', PNG, 'image/png'],
    ['application/octet-stream', Buffer.from('x'), 'application/octet-stream'],
    ['Text/Markdown; charset=utf-8', Buffer.from('# x'), 'text/markdown'],
    ['text/plain', Buffer.from('a text that speaks of %PDF-1.7'), 'text/plain'],
    ['nonsense', Buffer.from('x'), 'application/octet-stream'],
    ['text/plain', Buffer.from(''), 'text/plain'],
  ])('of the type %s is stored with the type of its content', async (declared, content, expected) => {
    const answer = await post(filePart(content, declared));
    expect(answer.body).toMatchObject({ contentType: expected, size: content.length });
  });

  it('without a name gets one', async () => {
    const answer = await post({ name: 'file', value: 'x', contentType: 'application/octet-stream' });
    expect(answer).toMatchObject({ status: 200, body: { name: 'file', size: 1 } });
  });

  it.each([
    ['image/png', Buffer.from('no image')],
    ['image/png', PDF],
    ['application/pdf', Buffer.from('<html>')],
    ['text/plain', PNG],
    ['text/html', PDF],
  ])('declared as %s is refused when its bytes differ', async (declared, content) => {
    const answer = await post<{ message: string }>(filePart(content, declared));
    expect(answer).toMatchObject({
      status: 400,
      body: { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'bad_request' },
    });
    expect(answer.body.message).toContain(`body/file is declared as ${declared}`);
    await expectNothingStored();
  });
});

describe('a body', () => {
  it.each<[string, readonly Part[], string]>([
    ['without a field', [], 'body/file is required'],
    ['without the file', [{ name: 'other', value: '1' }], 'body/file is required'],
    ['with the file as text', [{ name: 'file', value: 'hello' }], 'body/file must be a file'],
    ['with an unknown field', [filePart('x'), { name: 'other', value: '1' }], 'body/other is not allowed'],
    ['with two files', [filePart('x'), filePart('y')], 'body/file must be given once'],
    ['with a file elsewhere', [{ ...filePart('x'), name: 'assistant_id' }], 'body/assistant_id must not be a file'],
    [
      'with a field twice',
      [
        { name: 'a', value: '1' },
        { name: 'a', value: '1' },
      ],
      'body/a must be given once',
    ],
    [
      'with an id that is none',
      [filePart('x'), { name: 'assistant_id', value: '1' }],
      'body/assistant_id must be a UUID',
    ],
    ['with __proto__', [filePart('x'), { name: '__proto__', value: '1' }], '__proto__'],
    ['with U+0000', [filePart('x'), { name: 'assistant_id', value: 'a\0b' }], 'U+0000'],
    ['with U+0000 in a name', [filePart('x', 'text/plain', 'a\0b')], 'U+0000'],
    ...['null', '1', '["x"]', '{"name":{"toString":1,"valueOf":1}}'].map((value): [string, readonly Part[], string] => [
      `with the JSON ${value} for a text`,
      [filePart('x'), { name: 'assistant_id', value, contentType: 'application/json' }],
      'body/assistant_id must be text',
    ]),
    ['with too many fields', Array.from({ length: 30 }, (_, at) => ({ name: `f${at}`, value: '' })), 'too many'],
    ['with an endless field', [{ name: 'a', value: 'x'.repeat(20_000) }], 'too long'],
  ])('%s is refused, and nothing is stored', async (_what, parts, message) => {
    const answer = await post<{ message: string }>(...parts);
    expect(answer).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION', error: 'bad_request' } });
    expect(answer.body.message).toContain(message);
    await expectNothingStored();
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['a boundary that never comes', 'multipart/form-data; boundary=b', 'x'],
    [
      'no end',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
    ],
    ['nothing', 'multipart/form-data; boundary=b', ''],
  ])('with %s is refused', async (_what, contentType, body) => {
    const headers = { 'content-type': contentType };
    const answer = await service.http('POST', '/v1/files/upload', { key: owner.key, headers, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
    await expectNothingStored();
  });

  it('of another type is unsupported here, and multipart on all other routes', async () => {
    const { key } = owner;
    const json = await service.http('POST', '/v1/files/upload', { key, body: { file: 'x' } });
    expect(json).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } });
    const { body, contentType } = multipart([filePart('x')]);
    for (const path of ['/v1/agents', '/v1/threads']) {
      const headers = { 'content-type': contentType };
      const answer = await service.http('POST', path, { key, headers, body: body.toString() });
      expect(answer).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } });
    }
    const none = await service.http('POST', '/v1/files/upload', { key });
    expect(none).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
  });
});

describe('a large upload', () => {
  it('of exactly 50 MB is accepted, and read completely', async () => {
    const answer = await sendFile(LIMIT);
    expect(answer).toMatchObject({ status: 200, body: { size: LIMIT } });
    const read = await fetch(answer.body['url'] as string);
    let bytes = 0;
    for await (const chunk of read.body ?? []) bytes += (chunk as Uint8Array).length;
    expect(bytes).toBe(LIMIT);
  });

  it('is not held in memory: received parts are on the disk before the rest arrives', async () => {
    const [half, rest] = [Buffer.alloc(25_000_000), Buffer.alloc(25_000_000)];
    const { body: frame, contentType } = multipart([filePart('@', 'application/x-zeros')]);
    const at = frame.indexOf('@');
    const request = openRequest(`${service.baseUrl}/v1/files/upload`, {
      method: 'POST',
      headers: { ...auth(), 'content-type': contentType },
    });
    request.write(frame.subarray(0, at));
    request.write(half);
    const onDisk = async (): Promise<number> => {
      const [name] = await spooled();
      return name === undefined ? 0 : (await stat(join(dataDir(), 'spool', name))).size;
    };
    // The parser holds back bytes that could begin the boundary.
    await until(async () => (await onDisk()) > half.length - 200_000, 'the first half to be on the disk');
    request.write(rest);
    request.end(frame.subarray(at + 1));
    const [response] = (await once(request, 'response')) as [Readable & { statusCode: number }];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it.each([LIMIT + 1, LIMIT + 5_000_000])('of %i bytes is refused with 413, and nothing is stored', async (size) => {
    expect(await sendFile(size)).toEqual({
      status: 413,
      body: {
        statusCode: 413,
        code: 'FST_ERR_CTP_BODY_TOO_LARGE',
        error: 'payload_too_large',
        message: 'The file is larger than 52428800 bytes.',
      },
    });
    await expectNothingStored();
  });

  it('that declares a size far beyond the limit is refused before it is read', async () => {
    const request = openRequest(`${service.baseUrl}/v1/files/upload`, {
      method: 'POST',
      headers: { ...auth(), 'content-type': 'multipart/form-data; boundary=b', 'content-length': 10 * LIMIT },
    });
    request.on('error', () => undefined).flushHeaders();
    const [response] = (await once(request, 'response')) as [{ statusCode: number }];
    expect(response.statusCode).toBe(413);
    request.destroy();
  });

  it('whose client disconnects half-way stores nothing', async () => {
    const request = openRequest(`${service.baseUrl}/v1/files/upload`, {
      method: 'POST',
      headers: { ...auth(), 'content-type': 'multipart/form-data; boundary=boundary' },
    });
    request.on('error', () => undefined);
    request.write(multipart([filePart(Buffer.alloc(1_000_000))]).body.subarray(0, 900_000));
    await until(async () => (await spooled()).length > 0, 'the upload to arrive');
    request.destroy();
    await until(async () => (await spooled()).length === 0, 'the upload to be dropped');
    await expectNothingStored();
  });
});

function auth(): Record<string, string> {
  return { authorization: `Bearer ${owner.key}` };
}

/** Uploads this many zeros without holding them in memory. */
async function sendFile(size: number): Promise<{ status: number; body: Record<string, unknown> }> {
  const { body: frame, contentType } = multipart([filePart('@', 'application/x-zeros')]);
  const at = frame.indexOf('@');
  const block = Buffer.alloc(65_536);
  const content = function* (): Generator<Buffer> {
    yield frame.subarray(0, at);
    for (let left = size; left > 0; left -= block.length) yield block.subarray(0, Math.min(left, block.length));
    yield frame.subarray(at + 1);
  };
  const length = frame.length - 1 + size;
  const request = openRequest(`${service.baseUrl}/v1/files/upload`, {
    method: 'POST',
    headers: { ...auth(), 'content-type': contentType, 'content-length': length },
  });
  Readable.from(content()).pipe(request);
  const [response] = (await once(request, 'response')) as [Readable & { statusCode: number }];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> };
}
