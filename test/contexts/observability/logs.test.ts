import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { message, type TestService, until } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { Visitor } from '../tenants/requests.js';
import type { RouteRequest } from '../tenants/route-case.js';
import { ROUTE_TABLE, routeCase } from '../tenants/route-table.js';
import { createWorld, type SkippingClock, startTenants, type World } from '../tenants/world.js';

type Line = Readonly<Record<string, unknown>>;

/** Part of every text of a caller in these tests, except request ids. */
const CANARY = /canary/i;

const lines: string[] = [];
let service: TestService;
let clock: SkippingClock;
let world: World;
beforeAll(async () => {
  const log = { write: (line: string) => void lines.push(line) };
  ({ service, clock } = await startTenants({ environment: { LOG_LEVEL: 'debug' }, log }));
  world = await createWorld(service);
});
afterAll(() => service.close());

function linesOf(field: string, value: string): Line[] {
  return lines
    .filter((line) => line.includes(value))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line[field] === value);
}

const requestLines = (id: string): Line[] => linesOf('requestId', id).filter(({ msg }) => msg === 'Request served');
const runLines = (id: string): Line[] => linesOf('runId', id).filter(({ msg }) => msg === 'Run ended');

async function requestLine(id: string): Promise<Line> {
  await until(() => requestLines(id).length > 0, `the line of ${id}`);
  expect(requestLines(id)).toHaveLength(1);
  return requestLines(id)[0] ?? {};
}

/** The same value with all texts replaced, under every name. */
function spoilt(value: unknown, canary: string): unknown {
  if (typeof value === 'string') return `${canary} ${value}`;
  if (Array.isArray(value)) return value.map((item) => spoilt(item, canary));
  if (typeof value !== 'object' || value === null) return canary;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, spoilt(field, canary)]));
}

/** The request, and variants with texts where other values belong. */
function variants(request: RouteRequest, canary: string): RouteRequest[] {
  const { body, params = {}, query = {} } = request;
  const spoiltParams = Object.fromEntries(Object.keys(params).map((name) => [name, `${canary}/${name}`]));
  return [
    { ...request, query: { ...query, [canary]: canary } },
    ...(Object.keys(params).length === 0 ? [] : [{ ...request, params: spoiltParams }]),
    ...(body === undefined
      ? []
      : [
          { ...request, body: spoilt(body, canary) as Record<string, unknown> },
          { ...request, body: { ...body, [canary]: canary } },
          { params, unreadable: `{"${canary}":"${canary}`, headers: { 'content-type': 'application/json' } },
          { params, unreadable: canary, headers: { 'content-type': `text/${canary}` } },
        ]),
    request,
  ];
}

async function askEverything(): Promise<string[]> {
  const visitor = new Visitor(service, clock);
  const routes = Object.keys(ROUTE_TABLE);
  const ordered = [
    ...routes.filter((route) => !routeCase(route).spoils),
    ...routes.filter((route) => routeCase(route).spoils),
  ];
  const ids: string[] = [];
  const { canary } = world;
  const ask = async (route: string, request: RouteRequest, key: string): Promise<void> => {
    const id = newId();
    ids.push(id);
    const planted = {
      'user-agent': canary,
      'if-match': canary,
      cookie: `a=${canary}`,
      referer: `http://${canary}/`,
      'x-forwarded-for': canary,
    };
    await visitor.ask(route, { ...request, headers: { ...planted, ...request.headers, 'x-request-id': id } }, key);
  };
  for (const route of ordered) {
    for (const requestOf of routeCase(route).requests)
      for (const variant of variants(requestOf(world), canary)) await ask(route, variant, world.key);
    await ask(route, routeCase(route).requests[0](world), `ak_${canary}`);
  }
  return ids;
}

describe('a run', () => {
  it('has one line with its ids, figures and error code', async () => {
    const { key, organization, otherAgentId, canary } = world;
    const threadId = await service.thread(key, otherAgentId);
    service.models.next(says(`${canary} says`), (exchange) =>
      exchange.refuse(400, { error: { type: 'invalid_request_error', message: `${canary} is wrong` } }),
    );
    const ids = { organizationId: organization.id, agentId: otherAgentId, threadId };
    const requestId = newId();
    const options = { key, body: message(canary), headers: { 'x-request-id': requestId } };
    const { body } = await service.http<{ run: { id: string } }>('POST', `/v1/threads/${threadId}/runs`, options);
    expect(runLines(body.run.id)).toEqual([
      {
        ...{
          level: 'info',
          time: expect.any(String),
          msg: 'Run ended',
          runId: body.run.id,
          ...ids,
          provider: 'gemini',
          channel: 'api',
        },
        ...{
          status: 'completed',
          errorCode: null,
          latencyMs: expect.any(Number),
          timeToFirstTokenMs: expect.any(Number),
        },
        ...{ inputTokens: 11, outputTokens: 7, cachedInputTokens: null },
      },
    ]);
    expect(await requestLine(requestId)).toEqual({
      ...{
        level: 'info',
        time: expect.any(String),
        msg: 'Request served',
        requestId,
        method: 'POST',
        route: '/v1/threads/:threadId/runs',
      },
      ...{ status: 200, ms: expect.any(Number), ...ids, runId: body.run.id },
    });
    await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message(canary) });
    const failed = lines
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.msg === 'Run ended' && line.threadId === threadId && line.status === 'failed');
    expect(failed).toMatchObject([{ ...ids, errorCode: expect.stringMatching(/^[a-z_]+$/) }]);
  });

  it('that is streamed has one line of the request, at the end of the stream', async () => {
    const { key, agentId, threadId, organization } = world;
    const requestId = newId();
    const options = { key, body: message('Hello'), headers: { 'x-request-id': requestId } };
    for await (const { event } of service.stream(`/v1/threads/${threadId}/runs/stream`, options)) {
      if (event.type === 'RUN_STARTED') expect(requestLines(requestId)).toEqual([]);
    }
    const ids = { organizationId: organization.id, agentId, threadId, runId: expect.any(String) };
    expect(await requestLine(requestId)).toMatchObject({
      status: 200,
      route: '/v1/threads/:threadId/runs/stream',
      ...ids,
    });
  });
});

describe('a request that no handler answers has a line:', () => {
  it.each([
    ['an unknown route', '/canary/unknown?canary=1', 'GET', null, 404],
    ['a malformed path', '/v1/agents/%E0%A4%A', 'GET', null, 400],
    ['a preflight', '/v1/agents', 'OPTIONS', null, 204],
    ['a refused credential', '/v1/agents', 'GET', '/v1/agents', 401],
  ])('%s', async (_what, path, method, route, status) => {
    const requestId = newId();
    await service.http(method, path, { key: 'ak_canary-nobody', headers: { 'x-request-id': requestId } });
    expect(await requestLine(requestId)).toMatchObject({ level: 'info', method, route, status });
  });

  it('a probe, at debug level', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      const requestId = newId();
      await service.http('GET', path, { headers: { 'x-request-id': requestId } });
      expect(await requestLine(requestId)).toMatchObject({ level: 'debug', route: path, status: 200 });
    }
  });

  it('one that is not HTTP, with the id of its response', async () => {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    socket.write('GET /canary HTTP/9.canary\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    const id = /x-request-id: (\S+)/.exec(answer)?.[1] ?? 'none';
    expect(await requestLine(id)).toMatchObject({ status: 400, method: null, route: null });
  });

  it('one whose client left', async () => {
    const requestId = newId();
    const left = new AbortController();
    service.models.next(async (exchange, wire) => {
      left.abort();
      await until(() => requestLines(requestId).length > 0, 'the line');
      await exchange.sendAll(wire.text(['late'], { input: 1, output: 1 }));
    });
    const { key, otherAgentId } = world;
    const threadId = await service.thread(key, otherAgentId);
    const options = { key, body: message('Hello'), headers: { 'x-request-id': requestId }, signal: left.signal };
    await expect(service.http('POST', `/v1/threads/${threadId}/runs`, options)).rejects.toThrow();
    expect(await requestLine(requestId)).toMatchObject({ status: null, brokenOff: true, threadId });
  });

  it('one that the process made itself, as complete', async () => {
    const requestId = newId();
    await service.app.inject({ url: '/v1/assistants', headers: { 'x-request-id': requestId } });
    const line = await requestLine(requestId);
    expect(line).toMatchObject({ status: 401 });
    expect(line).not.toHaveProperty('brokenOff');
  });
});

it('the log has one line for every request and no text of a caller or another server, at debug level', async () => {
  const ids = await askEverything();
  expect(ids.length).toBeGreaterThan(300);
  for (const id of ids) await requestLine(id);
  expect(lines.filter((line) => CANARY.test(line))).toEqual([]);
});
