import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { loadWidgetServer } from '../../support/widget-server.js';

const { createWidgetHandler } = await loadWidgetServer();
const SITE = 'https://shop.test';
const FILE = 'content-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nHello';
const FIELD = 'content-disposition: form-data; name="a"\r\n\r\nb';
const sent: FormData[] = [];

const handlerOf = (more: object = {}) =>
  createWidgetHandler({
    ...{ serviceUrl: 'https://agents.test', apiKey: 'ak_key', assistantId: newId(), basePath: '/chat' },
    visitor: () => ({ id: 'anna' }),
    onError: () => undefined,
    fetch: (_url, { body }) => {
      sent.push(body as FormData);
      return Promise.resolve(
        Response.json({ id: 'f', name: 'a', url: 'https://files.test/f', contentType: 'a/b', size: 1 }),
      );
    },
    ...more,
  });
const requestOf = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
) =>
  new Request(`${SITE}/chat/v1/files/upload`, {
    ...{ method: 'POST', body, duplex: 'half' },
    headers: { 'content-type': 'multipart/form-data; boundary=b', origin: SITE, ...headers },
  });
const formOf = (parts: readonly string[]) => parts.map((part) => `--b\r\n${part}\r\n`).join('') + '--b--\r\n';
const statusOf = async (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
) => (await handlerOf()(requestOf(body, headers))).status;

beforeEach(() => {
  sent.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a form', () => {
  it('gives the service its file alone, byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
    const content = Buffer.concat([bytes, Buffer.from('\r\n\r\n--\r\n--x\r'), bytes]);
    const form = new FormData();
    form.set('purpose', 'chat');
    form.set('file', new File([content], 'Bild "größe"\n1.PNG', { type: 'image/png' }));
    form.set('assistant_id', 'other');
    const request = new Request(`${SITE}/chat/v1/files/upload`, {
      method: 'POST',
      body: form,
      headers: { origin: SITE },
    });
    expect((await handlerOf()(request)).status).toBe(200);
    const file = sent[0]!.get('file') as File;
    expect([file.name, file.type]).toEqual(['Bild "größe"\n1.PNG', 'image/png']);
    expect(Buffer.from(await file.arrayBuffer()).equals(content)).toBe(true);
    expect([...sent[0]!.keys()]).toEqual(['assistant_id', 'file']);
    expect(sent[0]!.get('assistant_id')).not.toBe('other');
  });

  it('may have a quoted boundary, an empty file and ten further fields', async () => {
    const empty = FILE.replace('Hello', '');
    const quoted = { 'content-type': 'multipart/form-data; boundary="b"' };
    expect(await statusOf(formOf([...Array<string>(10).fill(FIELD), empty]), quoted)).toBe(200);
    expect((sent[0]!.get('file') as File).size).toBe(0);
  });

  it('of 240,000 parts is refused at the eleventh', async () => {
    const body = formOf([FILE, ...Array<string>(240_000).fill(FIELD)]);
    const platform = jest.spyOn(Response.prototype, 'formData');
    const decoded = jest.spyOn(TextDecoder.prototype, 'decode');
    expect(await statusOf(body)).toBe(400);
    expect([decoded.mock.calls.length, platform.mock.calls.length]).toEqual([12, 0]);
    expect(sent).toEqual([]);
  });

  it.each([
    ['headers of 18 MB', formOf(['a: b\r\n'.repeat(3_000_000) + FILE])],
    ['headers of 9 KiB', formOf([`a: ${'b'.repeat(9_000)}\r\n${FILE}`])],
    ['nothing but boundaries', '--b\r\n'.repeat(3_000_000)],
    ['two files', formOf([FILE, FILE])],
    ['a file without a name', formOf([FILE.replace('; filename="a.txt"', '')])],
    ['no file', formOf([FIELD])],
    ['no end', formOf([FILE]).replace('--b--', '')],
    ['no beginning', 'Hello'],
    ['another boundary', formOf([FILE]).replaceAll('--b', '--c')],
    ['a part without headers', formOf([FILE, '\r\nHello'])],
    ['headers that are no UTF-8', Buffer.from(formOf([FILE.replace('a.txt', '\xff.txt')]), 'latin1')],
    ['nothing', ''],
  ])('with %s is refused after a few parts', async (_what, body) => {
    const decoded = jest.spyOn(TextDecoder.prototype, 'decode');
    expect(await statusOf(body)).toBe(400);
    expect(decoded.mock.calls.length).toBeLessThan(4);
    expect(sent).toEqual([]);
  });

  it.each(['multipart/form-data', 'multipart/form-data; boundary=', `multipart/form-data; boundary=${'b'.repeat(71)}`])(
    'of the type %s has no boundary',
    async (type) => {
      expect(await statusOf(formOf([FILE]), { 'content-type': type })).toBe(400);
    },
  );

  it('that is compressed or in another character set is refused', async () => {
    expect(await statusOf(formOf([FILE]), { 'content-encoding': 'gzip' })).toBe(415);
    const post = (type: string) =>
      handlerOf()(
        new Request(`${SITE}/chat/session`, {
          method: 'POST',
          body: '{}',
          headers: { origin: SITE, 'content-type': type },
        }),
      );
    expect((await post('application/json; charset=utf-16')).status).toBe(415);
    expect((await post('application/json;charset="UTF-8"')).status).not.toBe(415);
  });
});

describe('uploads at once', () => {
  it('are bounded, because they are held in memory', async () => {
    const handler = handlerOf({ limits: { concurrentUploads: 1 } });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const first = handler(requestOf(readable));
    await writer.write(new TextEncoder().encode(formOf([FILE])));
    const second = await handler(requestOf(formOf([FILE])));
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5']);
    await writer.close();
    expect((await first).status).toBe(200);
    expect((await handler(requestOf('no form'))).status).toBe(400);
    expect((await handler(requestOf(formOf([FILE])))).status).toBe(200);
  });
});
