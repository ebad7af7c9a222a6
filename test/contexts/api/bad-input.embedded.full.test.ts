import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { statusClass } from '../../../src/platform/http/wire-error.js';
import type { TestService } from '../../support/harness.js';
import { RouteRecorder } from '../tenants/registered-routes.js';
import { pathOf, Visitor, type WireAnswer } from '../tenants/requests.js';
import type { RouteRequest } from '../tenants/route-case.js';
import { bodyLimitOf, ROUTE_TABLE, routeCase } from '../tenants/route-table.js';
import { storedRows } from '../tenants/stored-rows.js';
import { createWorld, startTenants, type World } from '../tenants/world.js';
import { DocumentedSchemas, type OpenApi } from '../../support/documented-schemas.js';
import { NO_OBJECTS, type SpoiledBody, spoiledBodies } from './spoiled-bodies.js';

const MAX_MESSAGE_LENGTH = 4_000;

const recorder = new RouteRecorder();
let service: TestService;
let visitor: Visitor;
let schemas: DocumentedSchemas;
let world: World;
/** Whether a request was accepted since the world was created, and may have changed it. */
let worldIsChanged = false;
beforeAll(async () => {
  const started = await startTenants({ extensions: { imports: [recorder.module] } });
  ({ service } = started);
  visitor = new Visitor(service, started.clock);
  schemas = new DocumentedSchemas((await service.http<OpenApi>('GET', '/v1/openapi.json')).body);
  world = await createWorld(service);
});
afterAll(() => service.close());

const routes = Object.keys(ROUTE_TABLE);
/** The routes with their fields, which are needed before the world exists and do not depend on it. */
const sample = new Proxy({}, { get: (_world, name) => String(name) }) as World;
const requestsOf = (name: string) => routeCase(name).requests.map((make) => make(sample));
const withJson = routes.filter((name) => requestsOf(name).some(({ body }) => body !== undefined));
const withForm = routes.filter((name) => requestsOf(name).some(({ form }) => form !== undefined));
const withParameters = routes.filter((name) => name.includes(':'));

function expectRefused({ status, headers }: WireAnswer, what: string, expected?: number): void {
  expect({ what, status }).toEqual({ what, status: expected ?? status });
  expect({ what, status, isRefusal: status >= 400 && status < 500 }).toEqual({ what, status, isRefusal: true });
  expect(headers.get('x-request-id')).toMatch(/^\S+$/);
}

function isJson({ headers }: WireAnswer): boolean {
  return headers.get('content-type')?.startsWith('application/json') ?? false;
}

/** Expects a refusal as a short HTML page. */
function expectRefusalPage(answer: WireAnswer, what: string, expected?: number): void {
  expectRefused(answer, what, expected);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.text).toMatch(/^<!doctype html>/);
  expect(answer.text.length).toBeLessThan(2_000);
}

/** Expects a refusal with the error body of the interface, and a short message. */
function expectRefusal(answer: WireAnswer, what: string, expected?: number): void {
  expectRefused(answer, what, expected);
  const { status, text } = answer;
  const { message, ...body } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  expect(message).toMatch(/\w/);
  expect(String(message).length).toBeLessThan(MAX_MESSAGE_LENGTH);
  const isBare = !('statusCode' in body);
  if (isBare) expect({ what, body }).toEqual({ what, body: { error: expect.stringMatching(/^[a-z_]+$/) } });
  else if (status === 400) {
    const error = expect.stringMatching(/^(bad_request|duplicate_section_names)$/);
    const code = expect.stringMatching(
      /^(FST_ERR_VALIDATION|integration_identity_mismatch|drive_file_not_found|resume_token_invalid)$/,
    );
    expect({ what, ...body }).toMatchObject({ what, statusCode: 400, code, error });
  } else expect({ what, ...body }).toMatchObject({ what, statusCode: status, error: statusClass(status) });
}

/** Sends requests that must all be refused, and checks that they stored nothing. */
async function expectNothingStored(work: () => Promise<void>): Promise<void> {
  const before = await storedRows(service.database);
  await work();
  expect(await storedRows(service.database)).toEqual(before);
}

function post(
  name: string,
  request: RouteRequest,
  body: string,
  contentType = 'application/json',
): Promise<WireAnswer> {
  const headers = { 'content-type': contentType };
  return visitor.ask(name, { ...request, headers, unreadable: body }, world.key);
}

describe.each(withJson)('%s', (name) => {
  const { requests, openBody = false } = routeCase(name);
  const valid = (): RouteRequest[] => requests.map((make) => make(world)).filter(({ body }) => body !== undefined);

  it('refuses a body that is no JSON object, or has another content type', async () => {
    const [request] = valid();
    if (!request) throw new Error('The route takes no body');
    await expectNothingStored(async () => {
      for (const { what, text } of NO_OBJECTS) {
        if (what === 'a number without end' && openBody) continue;
        expectRefusal(await post(name, request, text), what, 400);
      }
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'nonsense',
      ]) {
        expectRefusal(await post(name, request, JSON.stringify(request.body), type), type, 415);
      }
    });
  });

  it('refuses a body that is too large before it is sent', async () => {
    const [request] = valid();
    const line = `${name.split(' ')[0] ?? ''} ${pathOf(name.split(' ')[1] ?? '', request ?? {})}`;
    const answer = await announced(line, bodyLimitOf(name) + 1);
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toEqual({
      statusCode: 413,
      code: 'FST_ERR_CTP_BODY_TOO_LARGE',
      error: 'payload_too_large',
      message: expect.stringMatching(/\w/),
    });
  });

  it('refuses every value that its schema does not allow, in every place, and stores nothing', async () => {
    if (worldIsChanged) world = await createWorld(service);
    worldIsChanged = false;
    for (const request of valid()) {
      const spoiled = spoiledBodies(request.body as Parameters<typeof spoiledBodies>[0]);
      const mustFail = ({ text, never }: SpoiledBody): boolean =>
        never === true || (!openBody && !schemas.allowsBody(name, JSON.parse(text)));
      const refused = spoiled.filter(mustFail);
      await expectNothingStored(async () => {
        for (const { what, text } of refused) expectRefusal(await post(name, request, text), what);
      });
      // A value that the schema allows may be refused for its meaning, but never causes a 5xx.
      for (const { what, text } of spoiled.filter((one) => !mustFail(one))) {
        const answer = await post(name, request, text);
        if (answer.status >= 400) expectRefusal(answer, what);
        else worldIsChanged = true;
      }
    }
  });
});

describe.each(withForm)('%s', (name) => {
  it('refuses a malformed form', async () => {
    const [request = {}] = requestsOf(name);
    const { form: _form, ...rest } = request;
    await expectNothingStored(async () => {
      expectRefusal(await post(name, rest, '{}'), 'JSON', 415);
      for (const type of [
        'multipart/form-data',
        'multipart/form-data; boundary=x',
        'multipart/form-data; boundary=""',
      ]) {
        expectRefusal(
          await post(name, rest, '--x\r\ncontent-disposition: form-data; name="file"\r\n\r\nhalf', type),
          type,
          400,
        );
      }
    });
  });
});

describe.each(withParameters)('the path of %s', (name) => {
  const undecodable = ['%zz', '%ff', '%00', '%ED%A0%80'];
  const garbage = [
    ...undecodable,
    'not-a-uuid',
    '0',
    '%27%20or%201=1',
    '..%2f..%2fdocs',
    'a'.repeat(5_000),
    '__proto__',
  ];

  it('refuses everything that is no id', async () => {
    const [method = '', pattern = ''] = name.split(' ');
    const [make] = routeCase(name).requests;
    const { params = {}, body, query } = make(world);
    await expectNothingStored(async () => {
      for (const parameter of Object.keys(params)) {
        for (const text of garbage) {
          const path = pathOf(pattern.replace(`:${parameter}`, 'GARBAGE'), { params, query }).replace('GARBAGE', text);
          expectRefusal(await askAt(method, path, body), `${parameter} = ${text.slice(0, 20)}`);
        }
      }
    });
  });
});

describe('a query', () => {
  const parameters = (name: string): string[] =>
    (schemas.operation(name)?.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name);
  const odd = ['', '-1', '1e400', '%F0%9F%98%80', '9'.repeat(20), 'x'.repeat(5_000), '2026-13-45T00:00:00Z'];

  it('with any error is refused, on every route with a query', async () => {
    let checked = 0;
    for (const name of routes) {
      const [method = '', pattern = ''] = name.split(' ');
      const { requests, refusesWithPage } = routeCase(name);
      const { params = {}, body } = requests[0](world);
      const expectRefusalOf = (answer: WireAnswer, what: string, status?: number): void => {
        const isPage = refusesWithPage === true && !isJson(answer);
        (isPage ? expectRefusalPage : expectRefusal)(answer, what, status);
      };
      const ask = (query: string): Promise<WireAnswer> =>
        askAt(method, `${pathOf(pattern, { params })}?${query}`, body);
      for (const parameter of parameters(name)) {
        checked += 1;
        const wrong = [
          `${parameter}=1&${parameter}=2`,
          `${parameter}=%00`,
          `${parameter}=1&nonsense=1`,
          `${parameter}[$ne]=1`,
        ];
        for (const query of [...wrong, '__proto__=1']) expectRefusalOf(await ask(query), `${name}?${query}`, 400);
        for (const value of odd) {
          const answer = await ask(`${parameter}=${value}`);
          if (answer.status >= 300) expectRefusalOf(answer, `${name}?${parameter}=${value.slice(0, 30)}`);
        }
      }
    }
    expect(checked).toBeGreaterThan(10);
  });
});

/** Sends a request to a literal path. */
async function askAt(method: string, path: string, body: RouteRequest['body']): Promise<WireAnswer> {
  const { status, headers, text } = await service.http(method, path, {
    key: world.key,
    ...(body === undefined ? {} : { body }),
  });
  return visitor.seen({ status, headers, text });
}

/** Sends a request with this Content-Length and no body. */
async function announced(requestLine: string, bytes: number): Promise<{ status: number; text: string }> {
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
  socket.write(
    `${requestLine} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes}\r\nConnection: close\r\n\r\n`,
  );
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    // The service keeps the connection open for the body, so the length of the response marks its end.
    const [head = '', body] = answer.split('\r\n\r\n');
    if (body !== undefined && Buffer.byteLength(body) >= Number(/^content-length: (\d+)/im.exec(head)?.[1])) break;
  }
  return { status: Number(answer.slice(9, 12)), text: answer.slice(answer.indexOf('\r\n\r\n') + 4) };
}
