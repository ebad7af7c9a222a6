import { connect, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NotesController } from '../../../test/support/notes.controller.js';
import { until } from '../../../test/support/until.js';
import { Clock, SystemClock } from '../clock/index.js';
import { readSettings, Settings } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { newId } from '../ids/index.js';
import { createLogger, TelemetryModule } from '../telemetry/index.js';
import { BODY_LIMIT, LARGE_BODY_LIMIT } from './body-limit.js';
import { createHttpApp } from './create-http-app.js';
import { HttpModule } from './http.module.js';
import { isPublicRequest } from './public-route.js';

const settings = readSettings({ LOG_LEVEL: 'debug' }, { role: 'all', demo: false });
const lines: string[] = [];
const logger = createLogger(settings, { write: (line) => void lines.push(line) });

const clockProvider = { provide: Clock, useClass: SystemClock };

@Global()
@Module({ providers: [{ provide: Settings, useValue: settings }, clockProvider], exports: [Settings, Clock] })
class KernelModule {}

@Module({
  imports: [KernelModule, TelemetryModule.forRoot(settings, logger), HttpModule],
  controllers: [NotesController],
})
class RootModule {}

let app: NestFastifyApplication;
let base: string;
beforeAll(async () => {
  app = await createHttpApp({
    rootModule: RootModule,
    settings,
    logger,
    hooks: () => ({
      onRequest: [
        async (request) => {
          if (isPublicRequest(request) || request.headers.authorization === 'Bearer good') return;
          throw new DomainError('unauthenticated', 'Send a key.', { code: 'api_key_missing' });
        },
      ],
    }),
  });
  await app.listen(0, '127.0.0.1');
  base = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
});

afterAll(() => app.close());

const authorized = { authorization: 'Bearer good' };
const json = { ...authorized, 'content-type': 'application/json' };

async function call(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Uint8Array<ArrayBuffer>,
) {
  const response = await fetch(`${base}${path}`, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

const post = (body: string | Uint8Array<ArrayBuffer>) => call('POST', '/v1/notes', json, body);

/** Sends bytes as they are: `fetch` refuses to send what a rude client can. */
async function raw(request: string): Promise<string> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  socket.end(request);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

function expectGeneral(answer: { status: number; body: unknown }, status: number, error: string, code?: string): void {
  expect(answer).toMatchObject({ status });
  expect(answer.body).toEqual({
    statusCode: status,
    ...(code && { code }),
    error,
    message: expect.stringMatching(/\w/),
  });
}

const expectInvalid = (answer: { status: number; body: { message: string } }, message: RegExp) => {
  expectGeneral(answer, 400, 'bad_request', 'FST_ERR_VALIDATION');
  expect(answer.body.message).toMatch(message);
};

describe('errors of handlers', () => {
  const fail = (name: string) => call('POST', `/v1/fail/x?name=${name}`);

  it('have the body of the interface for each kind', async () => {
    expect((await fail('bare')).body).toEqual({ error: 'agent_limit_reached', message: 'The limit is reached.' });
    expect((await fail('cause')).body).toEqual({
      statusCode: 409,
      error: 'section_name_taken',
      message: 'Taken.',
      names: ['a'],
    });
    expectGeneral(await fail('coded'), 403, 'forbidden', 'forbidden_by_key_role');
  });

  it('have Retry-After, at most an hour', async () => {
    const answer = await fail('wait');
    expectGeneral(answer, 429, 'too_many_requests', 'rate_limited');
    expect(answer.headers.get('retry-after')).toBe('3600');
  });

  it('are 503 when the database is unavailable', async () => {
    const answer = await fail('database');
    expectGeneral(answer, 503, 'service_unavailable');
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  it.each(['upstream', 'crash', 'nothing'])(
    'hide what happened inside (%s), and log it under the request id',
    async (name) => {
      const answer = await fail(name);
      expectGeneral(answer, 500, 'Internal Server Error');
      expect(JSON.stringify(answer.body)).not.toContain('canary');
      const id = answer.headers.get('x-request-id') ?? 'none';
      expect(lines.some((line) => line.includes(id) && line.includes('"level":"error"'))).toBe(true);
    },
  );

  it('reach the client also after the reply was hijacked', async () => {
    const answer = await call('GET', '/v1/hijacked', authorized);
    expectGeneral(answer, 500, 'Internal Server Error');
    expect(answer.headers.get('x-request-id')).not.toBeNull();
  });

  it('close the connection when part of a response is sent', async () => {
    await expect(call('GET', '/v1/half', authorized)).rejects.toThrow();
  });
});

describe('routes', () => {
  it.each([{}, authorized])('an unknown one is 404 with or without a credential', async (headers) => {
    expectGeneral(await call('GET', '/v1/unknown?key=canary', headers), 404, 'not_found');
    expectGeneral(
      await call('POST', '/v1/unknown', { ...headers, 'content-type': 'text/weird' }, '{'),
      404,
      'not_found',
    );
  });

  it.each(['PUT', 'PATCH', 'PROPFIND'])('a path of another method is 404 (%s)', async (method) => {
    expectGeneral(await call(method, '/v1/notes', authorized), 404, 'not_found');
  });

  it('a credential is checked before the body and the query', async () => {
    const headers = { 'content-type': 'application/json' };
    expectGeneral(await call('POST', '/v1/notes', headers, '{'), 401, 'unauthorized', 'api_key_missing');
    expectGeneral(
      await call('POST', '/v1/notes', { 'content-type': 'text/weird' }, 'x'),
      401,
      'unauthorized',
      'api_key_missing',
    );
    expectGeneral(await call('GET', '/v1/notes?limit=%00'), 401, 'unauthorized', 'api_key_missing');
  });

  it('HEAD answers like GET, without a body', async () => {
    expect(await call('HEAD', '/v1/notes', authorized)).toMatchObject({ status: 200, body: null });
    expect(await call('HEAD', '/v1/notes')).toMatchObject({ status: 401, body: null });
  });

  it('an id that is no UUID is 400 with its name; one in capitals is the same id', async () => {
    expectInvalid(await call('GET', '/v1/notes/nope', authorized), /^params\/noteId must be a UUID$/);
    expectInvalid(await call('GET', `/v1/notes/${'a'.repeat(5_000)}`, authorized), /params\/noteId/);
    const id = newId();
    expect((await call('GET', `/v1/notes/${id.toUpperCase()}`, authorized)).body).toEqual({ noteId: id });
  });
});

describe('bodies that cannot be read', () => {
  it.each([
    ['malformed JSON', '{"text":', /^body is not valid JSON/],
    ['no JSON', 'text', /^body is not valid JSON/],
    ['nothing', '', /^body\/text is required$/],
    ['an array', '[]', /^body must be an object$/],
    ['null', 'null', /^body must be an object$/],
    ['a string', '"x"', /^body must be an object$/],
    ['__proto__', '{"text":"x","__proto__":{"a":1}}', /__proto__ is not allowed/],
    ['deep __proto__', '{"text":"x","extra":{"a":[{"__proto__":1}]}}', /^body\/extra\/a\/0\/__proto__ is not allowed/],
    ['an unknown constructor', '{"text":"x","constructor":{"prototype":{}}}', /^body\/constructor is not allowed$/],
    ['unknown toString', '{"text":"x","toString":"y"}', /^body\/toString is not allowed$/],
    ['U+0000', '{"text":"a\\u0000"}', /^body\/text must not contain U\+0000/],
    ['U+0000 deep inside', '{"text":"x","extra":{"a":["b\\u0000"]}}', /^body\/extra\/a\/0 must not contain/],
    ['U+0000 in a name', '{"text":"x","extra":{"\\u0000":1}}', /^body\/extra has a field whose name/],
    ['a lone surrogate', '{"text":"\\ud800"}', /^body\/text must not contain/],
    ['deep nesting', `{"text":"x","extra":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`, /nested more than 64/],
    ['deep arrays', '['.repeat(200_000) + ']'.repeat(200_000), /nested more than 64/],
  ])('are 400 and say why: %s', async (_name, body, message) => {
    expectInvalid(await post(body), message);
  });

  it('are 400 when they are not UTF-8', async () => {
    expectInvalid(await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), /not valid UTF-8/);
  });

  it('keep any names where any JSON is accepted', async () => {
    const extra = { constructor: 'Acme', toString: 'x', then: 1, hasOwnProperty: null, length: [] };
    const answer = await post(JSON.stringify({ text: 'x', extra }));
    expect(answer).toMatchObject({ status: 201, body: { text: 'x', extra } });
  });

  it('are 415 with another content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense']) {
      const answer = await call('POST', '/v1/notes', { ...authorized, 'content-type': type }, 'text=x');
      expectGeneral(answer, 415, 'unsupported_media_type', 'FST_ERR_CTP_INVALID_MEDIA_TYPE');
    }
  });

  it.each(['gzip', 'br', 'deflate', 'zstd', 'x'.repeat(9_000)])(
    'are 415 where they are encoded, and name the encoding: %.10s',
    async (encoding) => {
      const answer = await call(
        'POST',
        '/v1/notes',
        { ...json, 'content-encoding': encoding },
        new Uint8Array(gzipSync('{"text":"x"}')),
      );
      expectGeneral(answer, 415, 'unsupported_media_type', 'FST_ERR_CTP_INVALID_MEDIA_TYPE');
      expect(answer.body).toMatchObject({
        message: expect.stringContaining(`The content encoding "${encoding.slice(0, 50)}`),
      });
      expect(JSON.stringify(answer.body).length).toBeLessThan(500);
      expect(
        (await call('POST', '/v1/notes', { ...json, 'content-encoding': 'identity' }, '{"text":"x"}')).status,
      ).toBe(201);
    },
  );

  it.each([
    ['4 MiB', '/v1/notes', BODY_LIMIT],
    ['10 MiB where the route takes large ones', '/v1/books', LARGE_BODY_LIMIT],
  ])('are 413 above %s, and read up to it', async (_name, path, limit) => {
    const room = limit - Buffer.byteLength('{"text":""}');
    const send = (length: number) => call('POST', path, json, `{"text":"${'x'.repeat(length)}"}`);
    expectGeneral(await send(room + 1), 413, 'payload_too_large', 'FST_ERR_CTP_BODY_TOO_LARGE');
    expectInvalid(await send(room), /body\/text must be a string/);
  });

  it('are ignored by a route without a body', async () => {
    expect((await call('DELETE', `/v1/notes/${newId()}`, json)).status).toBe(204);
  });
});

describe('malformed requests', () => {
  const status = (answer: string) => Number(answer.slice(9, 12));
  const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
  const get = (target: string, more = '') =>
    raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nConnection: close\r\n${more}\r\n`);

  it.each(['/v1/notes/%zz', '/v1/notes/%ff%fe', '/%', '/v1/notes/%ED%A0%80'])('%s is 400', async (target) => {
    const answer = await get(target);
    expectGeneral({ status: status(answer), body: bodyOf(answer) }, 400, 'bad_request', 'FST_ERR_VALIDATION');
    expect(answer).toMatch(/x-request-id: \S+/i);
    expect(answer).toMatch(/access-control-allow-origin: \*/i);
  });

  it.each([
    ['/v1/notes?limit=1&limit=2', /^querystring\/limit must be given once$/],
    ['/v1/notes?limit=ten', /^querystring\/limit must be an integer from 1 to 100$/],
    ['/v1/notes?limit=1e1', /^querystring\/limit/],
    ['/v1/notes?limit=', /^querystring\/limit/],
    ['/v1/notes?other=1', /^querystring\/other is not allowed$/],
    ['/v1/notes?limit=%00', /^querystring\/limit must not contain/],
    ['/v1/notes?__proto__=1', /__proto__ is not allowed/],
    ['/v1/notes/%00', /^params\/noteId must not contain/],
  ])('%s is 400 and says why', async (target, message) => {
    const answer = await get(target);
    expectInvalid({ status: status(answer), body: bodyOf(answer) }, message);
  });

  it('a query is converted, and has its defaults', async () => {
    expect(bodyOf(await get('/v1/notes?limit=7'))).toEqual({ limit: 7 });
    expect(bodyOf(await get('/v1/notes'))).toEqual({ limit: 50 });
  });

  it('a URL that is too long is 431, input that is no HTTP is 400, other targets are 404', async () => {
    const long = await get(`/${'a'.repeat(20_000)}`);
    expect([status(long), bodyOf(long).error]).toEqual([431, 'request_header_fields_too_large']);
    expect(long).toMatch(/x-request-id: \S+/i);
    const noise = await raw('NONSENSE\r\n\r\n');
    expectGeneral({ status: status(noise), body: bodyOf(noise) }, 400, 'bad_request', 'FST_ERR_VALIDATION');
    expect(status(await get('*v1/notes'))).toBe(404);
    expect(status(await get('http://elsewhere/v1/notes?limit=7'))).toBe(200);
  });

  it('a body shorter than its Content-Length does not disturb the service', async () => {
    await raw(
      'POST /v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n' +
        'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{',
    );
    expect((await call('GET', '/v1/notes', authorized)).status).toBe(200);
  });
});

describe('every response', () => {
  it.each([
    ['GET', '/health/live'],
    ['GET', '/v1/unknown'],
    ['GET', '/v1/notes'],
    ['POST', '/v1/fail/x?name=crash'],
    ['OPTIONS', '/v1/notes'],
  ])('carries the request id and may be read from any origin: %s %s', async (method, path) => {
    const given = `id-${newId()}`;
    const answer = await call(method, path, { 'x-request-id': given, origin: 'https://shop.example' });
    expect(answer.headers.get('x-request-id')).toBe(given);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('access-control-expose-headers')).toBe(
      'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, x-thread-id',
    );
  });

  it.each(['a'.repeat(129), 'with space', 'ümlaut'])(
    'gets a new request id where the given one is unfit: %s',
    async (given) => {
      const answer = await call('GET', '/health/live', { 'x-request-id': given });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('to a preflight is 204 without a credential, with the methods and headers of the interface', async () => {
    for (const path of ['/v1/notes', '/v1/unknown']) {
      const answer = await call('OPTIONS', path, {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      });
      expect(answer).toMatchObject({ status: 204, body: null });
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS');
      expect(answer.headers.get('access-control-max-age')).toBe('7200');
      expect(answer.headers.get('access-control-allow-headers')).toBe(
        'content-type, authorization, connection, cache-control, x-requested-with',
      );
    }
  });

  it('is one line in the log, without the query', async () => {
    const id = newId();
    await call('GET', '/v1/notes?limit=99', { ...authorized, 'x-request-id': id });
    const logged = () => lines.filter((line) => line.includes(id));
    await until(() => logged().length > 0, 'the line, which is written when the answer has left');
    const mine = logged().map((line) => JSON.parse(line));
    expect(mine).toMatchObject([{ level: 'info', method: 'GET', route: '/v1/notes', status: 200 }]);
    expect(JSON.stringify(mine)).not.toContain('limit=99');
  });
});
