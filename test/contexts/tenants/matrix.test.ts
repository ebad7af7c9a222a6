import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ThrottlerStorage } from '@nestjs/throttler';
import { type AccessDeclaration, resourcesOf } from '../../../src/access/http/access.decorator.js';
import { newId } from '../../../src/platform/ids/index.js';
import { useUpBudget } from '../../support/budgets.js';
import type { TestService } from '../../support/harness.js';
import { DocumentedSchemas, type OpenApi } from '../../support/documented-schemas.js';
import { type LimitedKeys, limitedKeys, type Refused, refusedCredentials } from './credentials.js';
import { type RegisteredRoute, RouteRecorder } from './registered-routes.js';
import { comparable, idsIn, send, Visitor, type WireAnswer } from './requests.js';
import type { RouteCase, RouteRequest } from './route-case.js';
import { ROUTE_TABLE, routeCase, routesWith } from './route-table.js';
import { storedRows } from './stored-rows.js';
import { createWorld, ID_NAMES, type Ids, type SkippingClock, startTenants, type World } from './world.js';

/** Names that are no ids, and have a meaning only for the organization that has them. */
const NAMES = ['idempotencyKey', 'cursor', 'fileSignature', 'resumeToken'] as const satisfies readonly (keyof World)[];

const recorder = new RouteRecorder();
let service: TestService;
let clock: SkippingClock;
/** The organization whose credentials are used, and the one whose resources are requested. */
let mine: World;
let victim: World;
let refused: Refused[];
let limited: LimitedKeys;
let rowsOfVictim: Awaited<ReturnType<typeof storedRows>>;
let visitor: Visitor;
const refusals = new Map<string, { readonly route: string; readonly answer: WireAnswer }>();

beforeAll(async () => {
  ({ service, clock } = await startTenants({ extensions: { imports: [recorder.module] } }));
  visitor = new Visitor(service, clock);
  mine = await createWorld(service);
  victim = await createWorld(service);
  refused = await refusedCredentials(service, clock, mine);
  limited = await limitedKeys(mine);
  rowsOfVictim = await storedRows(service.database, victim.organization.id);
});
beforeEach(() => {
  service.models.upstream.requests.length = 0;
});
afterAll(() => service.close());

const routes = Object.keys(ROUTE_TABLE);

function registered(name: string): RegisteredRoute {
  const route = recorder.routes.find((candidate) => candidate.name === name);
  if (!route) throw new Error(`ROUTE_TABLE has '${name}', which no controller serves`);
  return route;
}

/** The declaration of a route; undefined where it is public. */
const declarationOf = (name: string): AccessDeclaration | undefined => registered(name).declaration;

/** The access of the route as the table must have it. */
function accessOf(declaration: AccessDeclaration | undefined): RouteCase['access'] {
  if (!declaration) return 'public';
  return declaration.level === 'organization' || resourcesOf(declaration).length > 0 ? undefined : 'filtered';
}

/** Sends a request, and keeps one refusal of each status for the comparison with the document. */
async function ask(route: string, request: RouteRequest, key: string | undefined): Promise<WireAnswer> {
  const answer = await visitor.ask(route, request, key);
  // Every page may read every response.
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  if (answer.status >= 400) refusals.set(`${route} ${answer.status}`, { route, answer });
  return answer;
}

/** Loads the owner's resources into caches, where a lookup that ignores the organization would find them. */
async function warmCachesOf(world: World): Promise<void> {
  const { agentId, threadId } = world;
  const hot = ['GET /v1/threads/:threadId/messages', 'GET /v1/agents/:agentId/sections', 'GET /v1/agents/:agentId'];
  for (const route of hot) {
    const { status } = await send(service, route, { params: { agentId, threadId } }, world.key);
    expect(status).toBe(200);
  }
}

/** Compares with the previous state, so that only the route that changes something fails. */
async function expectVictimUntouched(): Promise<void> {
  const before = rowsOfVictim;
  rowsOfVictim = await storedRows(service.database, victim.organization.id);
  expect(rowsOfVictim).toEqual(before);
}

function absentIds(): Ids {
  return Object.fromEntries(ID_NAMES.map((name) => [name, newId()])) as unknown as Ids;
}

/** The request with a body that contains only the ids of its resources, which its schema refuses. */
function withInvalidBody(name: string, request: RouteRequest): RouteRequest {
  const fields = resourcesOf(declarationOf(name) ?? { scope: 'none' }).flatMap(({ in: place, field, fallbackField }) =>
    place === 'body' ? [field, ...(fallbackField === undefined ? [] : [fallbackField])] : [],
  );
  const kept = <Value>(all: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(Object.entries(all).filter(([field]) => fields.includes(field)));
  if (request.form !== undefined) return { ...request, form: kept(request.form) };
  return request.body === undefined ? request : { ...request, body: { ...kept(request.body), nonsense: true } };
}

function expectError(answer: WireAnswer, status: number, code?: string): void {
  const body = JSON.parse(answer.text) as Readonly<Record<string, unknown>>;
  expect({ status: answer.status, code: body['code'] }).toEqual({ status, code });
  expect(body).toMatchObject({ statusCode: status, error: expect.any(String), message: expect.stringMatching(/\w/) });
}

/** Contains nothing of the victim except the ids of the request. */
function expectNothingOf(world: World, request: RouteRequest, text: string): void {
  const named = idsIn(request);
  const secrets = [...ID_NAMES, 'otherAgentId' as const].map((name) => world[name]).filter((id) => !named.has(id));
  for (const secret of [
    world.canary,
    world.organization.id,
    world.key,
    world.cursor,
    world.fileSignature,
    world.pass,
    world.resumeToken,
    ...secrets,
  ]) {
    expect(text).not.toContain(secret);
  }
}

describe('the table of routes', () => {
  it('has exactly the routes of the router', () => {
    for (const { name } of recorder.routes) routeCase(name);
    expect(recorder.routes.map(({ name }) => name).sort()).toEqual([...routes].sort());
  });

  it('agrees with the declaration of each route: which are public, and which the guard cannot restrict to an allowlist', () => {
    const inTable = recorder.routes.map(({ name }) => [name, routeCase(name).access]);
    expect(inTable).toEqual(recorder.routes.map(({ name, declaration }) => [name, accessOf(declaration)]));
  });

  it('reports what to add for a missing route', () => {
    expect(() => routeCase('GET /v1/unicorns')).toThrow(
      /'GET \/v1\/unicorns'.*each id that stands in its path, query or body/,
    );
  });

  it('covers HEAD, which every GET route also serves', () => {
    expect(recorder.heads.length).toBeGreaterThan(0);
    for (const { path, declaration } of recorder.heads) expect(declarationOf(`GET ${path}`)).toEqual(declaration);
  });

  it('has valid requests, because the tests below would otherwise compare one refusal with another', async () => {
    const control = await send(service, 'GET /v1/agents/:agentId', { params: { agentId: mine.agentId } }, mine.key);
    expect(control.text).toContain(mine.canary);
    expect(() => {
      expectNothingOf(mine, {}, control.text);
    }).toThrow();
  });
});

describe.each(routes)('%s', (name) => {
  const { requests } = ROUTE_TABLE[name] ?? routeCase(name);

  it('refuses every invalid credential before it reads the body', async () => {
    const before = await storedRows(service.database);
    for (const { key, code } of refused) {
      for (const request of requests.map((make) => make(mine))) {
        const valid = await ask(name, request, key);
        if (!declarationOf(name)) {
          expect(valid.status).toBe(routeCase(name).status);
          continue;
        }
        expectError(valid, 401, code);
        expect(Object.keys(JSON.parse(valid.text) as object)).toEqual(['statusCode', 'code', 'error', 'message']);
        if (request.body !== undefined) {
          expectError(await ask(name, { ...request, headers: {}, unreadable: '{' }, key), 401, code);
        }
      }
    }
    expect(await storedRows(service.database)).toEqual(before);
  });

  it('answers ids of another organization exactly like ids that do not exist, and changes nothing of it', async () => {
    await warmCachesOf(victim);
    for (const make of requests) {
      const plain = JSON.stringify(make(mine));
      const absent = absentIds();
      const tries = [...ID_NAMES.map((id) => [id]), ID_NAMES]
        .map((ids) => ({
          foreign: make({ ...mine, ...pick(victim, ids) }),
          invented: make({ ...mine, ...pick(absent, ids) }),
        }))
        .filter(({ foreign }) => JSON.stringify(foreign) !== plain);
      for (const { foreign, invented } of tries) {
        const [theirs, absent] = [await ask(name, foreign, mine.key), await ask(name, invented, mine.key)];
        expect(comparable(theirs)).toEqual(comparable(absent));
        expectNothingOf(victim, foreign, theirs.text + JSON.stringify([...theirs.headers]));
      }
    }
    expectNothingOf(victim, {}, JSON.stringify(service.models.requests));
    await expectVictimUntouched();
  });

  it('does not reveal names of another organization', async () => {
    for (const make of requests) {
      for (const names of NAMES) {
        const request = make({ ...mine, [names]: victim[names] });
        if (JSON.stringify(request) === JSON.stringify(make(mine))) continue;
        const { status, text } = await ask(name, request, mine.key);
        // Two organizations may choose the same name.
        if (names === 'idempotencyKey') expect(status).toBe(routeCase(name).status);
        expectNothingOf({ ...victim, [names]: newId() }, request, text.replaceAll(victim.idempotencyKey, ''));
      }
    }
    await expectVictimUntouched();
  });
});

describe.each([...routesWith(undefined), ...routesWith('filtered')])('%s', (name) => {
  it('checks in the documented order: body unreadable, capability, level, resource, allowlist, schema', async () => {
    const declaration = declarationOf(name) ?? { scope: 'none' };
    const before = await storedRows(service.database);
    const { scope, level } = declaration;
    const names = resourcesOf(declaration).length > 0;
    for (const make of routeCase(name).requests) {
      const present = withInvalidBody(name, make(mine));
      const absent = withInvalidBody(name, make({ ...mine, ...absentIds() }));
      if (scope !== 'none') {
        const { [scope]: key } = limited.excludingAndLacking;
        if (present.body !== undefined) {
          expectError(await ask(name, { ...present, unreadable: '{' }, key), 400, 'FST_ERR_VALIDATION');
        }
        expectError(await ask(name, absent, key), 403, 'forbidden_by_key_role');
        expectError(await ask(name, make(mine), limited.lacking[scope]), 403, 'forbidden_by_key_role');
      }
      if (level === 'organization') {
        expectError(await ask(name, absent, limited.excluding), 403, 'forbidden_org_endpoint_for_scoped_key');
      } else if (names) {
        expect((await ask(name, absent, limited.excluding)).status).toBe(404);
        expectError(await ask(name, present, limited.excluding), 403, 'forbidden_by_agent_allowlist');
      }
      if (present.body !== undefined) {
        expectError(await ask(name, present, mine.key), 400, 'FST_ERR_VALIDATION');
      }
    }
    expect(await storedRows(service.database)).toEqual(before);
  });
});

describe.each([...routesWith(undefined), ...routesWith('filtered')])('%s', (name) => {
  const opens = (): boolean => declarationOf(name)?.sessionPass === true;
  /** Fields that a run with a pass does not take from a browser. */
  const ofServers = ['config', 'background', 'tools', 'limits', 'responseFormat'];
  const asVisitor = ({ body, ...request }: RouteRequest): RouteRequest =>
    body === undefined
      ? request
      : { ...request, body: Object.fromEntries(Object.entries(body).filter(([field]) => !ofServers.includes(field))) };

  it('refuses a session pass for every resource, unless it declares that it accepts passes', async () => {
    if (opens()) return;
    const before = await storedRows(service.database);
    for (const make of routeCase(name).requests) {
      for (const world of [mine, { ...mine, ...pick(victim, ID_NAMES) }, { ...mine, ...absentIds() }]) {
        const answer = await ask(name, make(world), mine.pass);
        expectError(answer, 403, 'forbidden_for_session_pass');
        expect(answer.headers.get('x-thread-id')).toBeNull();
      }
    }
    expect(await storedRows(service.database)).toEqual(before);
  });

  it('gives a session pass access to its own conversation; every other one does not exist for it', async () => {
    if (!opens()) return;
    for (const make of routeCase(name).requests) {
      const absent = await ask(name, asVisitor(make({ ...mine, threadId: newId() })), mine.pass);
      expect(absent.status).toBe(404);
      const foreign = await ask(name, asVisitor(make({ ...mine, threadId: victim.threadId })), mine.pass);
      expect(comparable(foreign)).toEqual(comparable(absent));
      const elsewhere = await ask(name, asVisitor(make(mine)), victim.pass);
      expect(comparable(elsewhere)).toEqual(comparable(absent));
      expectNothingOf(mine, make(mine), elsewhere.text);
      const own = await ask(name, asVisitor(make(mine)), mine.pass);
      // By the moved clock the run ended long ago, so it can no longer be joined.
      expect([routeCase(name).status, 410]).toContain(own.status);
    }
    await expectVictimUntouched();
  });
});

describe.each(routesWith('filtered'))('%s', (name) => {
  it('shows nothing of other agents to a key with an allowlist', async () => {
    for (const make of routeCase(name).requests) {
      const request = make(mine);
      const answer = await ask(name, request, limited.excluding);
      expect([200, 403]).toContain(answer.status);
      expectNothingOf({ ...mine, otherAgentId: newId(), cursor: newId() }, request, answer.text);
    }
  });
});

describe('a budget that is used up', () => {
  it('is reported before errors of capability, resource and schema, and after an unreadable body', async () => {
    const organization = await service.organization();
    const { key } = await organization.keyWith(['manageApiKeys'], [newId()]);
    const storage = service.app.get<ThrottlerStorage>(ThrottlerStorage);
    await useUpBudget(storage, `chat:${organization.id}:none`, 600);
    await useUpBudget(storage, `traces:${organization.id}`, 30, 'traces');
    await useUpBudget(storage, `traceExport:${organization.id}`, 20, 'traceExport');
    const budgeted = recorder.routes.filter(({ declaration }) => declaration?.rateLimit !== undefined);
    expect(budgeted.length).toBeGreaterThan(5);
    await useUpBudget(storage, `sessions:${organization.id}:none`, 600, 'sessions');
    await useUpBudget(storage, `sessionRefresh:${organization.id}`, 600, 'sessionRefresh');
    for (const { name, declaration } of budgeted) {
      for (const make of routeCase(name).requests) {
        const request = withInvalidBody(name, make({ ...mine, ...absentIds() }));
        expectError(
          await send(service, name, request, key),
          429,
          declaration?.rateLimit?.startsWith('trace') ? undefined : 'rate_limited',
        );
        if (request.body === undefined) continue;
        expectError(await send(service, name, { ...request, unreadable: '{' }, key), 400, 'FST_ERR_VALIDATION');
      }
    }
  });
});

describe('every refusal', () => {
  it('is as documented', async () => {
    const schemas = new DocumentedSchemas((await service.http<OpenApi>('GET', '/v1/openapi.json')).body);
    expect(refusals.size).toBeGreaterThan(routes.length);
    const wrong = [...refusals.values()]
      .filter(({ route }) => schemas.operation(route) !== undefined)
      .map(({ route, answer: { status, headers, text } }) => ({
        route,
        text,
        complaint: schemas.wrongAnswer(route, status, headers, text),
      }));
    expect(wrong.filter(({ complaint }) => complaint !== undefined)).toEqual([]);
  });
});

function pick(from: Ids, names: readonly (keyof Ids)[]): Partial<Ids> {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}
