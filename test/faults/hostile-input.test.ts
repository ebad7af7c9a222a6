import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/platform/config/index.js';
import { send } from '../contexts/tenants/requests.js';
import type { RouteRequest } from '../contexts/tenants/route-case.js';
import { bodyLimitOf, ROUTE_TABLE, routeCase } from '../contexts/tenants/route-table.js';
import { createWorld, type World, WORLD_ENVIRONMENT } from '../contexts/tenants/world.js';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { RunningService } from '../support/harness.js';
import {
  bodiesWith,
  ENVELOPE_BYTES,
  HOSTILE_SHAPES,
  type HostileBody,
  type HostileShape,
  longLists,
} from '../support/hostile-json.js';
import { operateOn } from '../support/operate-on.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import type { ServiceProcess } from '../support/service-process.js';
import { isHarmless, startWatched, watchedCost } from '../support/watched-cost.js';

let models: ScriptedModels;
let mode: ModeEnvironment;
let data: DataFolder;
let child: ServiceProcess;
let service: RunningService;
let world: World;

beforeAll(async () => {
  [models, mode, data] = [await ScriptedModels.start(), await modeEnvironment(), await dataFolder()];
  models.always(says('Hello'));
  const environment = { DATA_DIR: data.path, ...WORLD_ENVIRONMENT, ...models.environment, ...mode.variables };
  child = await startWatched(environment);
  const settings = readSettings(environment, { role: 'all', demo: false });
  service = new RunningService(child.url, (line) => operateOn(settings, line));
  world = await createWorld(service);
});

afterAll(async () => {
  await child.kill();
  await models.close();
  await mode.close();
  data.remove();
});

const watched = (request: () => Promise<number>): ReturnType<typeof watchedCost<number>> => watchedCost(child, request);

function post(name: string, request: RouteRequest, body: string | Buffer<ArrayBuffer>): Promise<number> {
  return send(
    service,
    name,
    { ...request, headers: { 'content-type': 'application/json' }, unreadable: body },
    world.key,
  ).then(({ status }) => status);
}

const sample = new Proxy({}, { get: (_world, name) => String(name) }) as World;
const withBody = Object.keys(ROUTE_TABLE).filter((name) =>
  routeCase(name).requests.some((make) => make(sample).body !== undefined),
);

function expectHarmless(what: string, seen: Awaited<ReturnType<typeof watched>>): void {
  expect({ what, ...seen, harmless: isHarmless(seen) && seen.result < 500 }).toEqual({ what, ...seen, harmless: true });
}

/** The routes that take JSON, each with a valid request. */
function targets(): { name: string; request: RouteRequest; limit: number; openBody: boolean }[] {
  return withBody.map((name) => {
    const { requests, openBody = false } = routeCase(name);
    const request = requests.map((make) => make(world)).find(({ body }) => body !== undefined);
    if (!request) throw new Error(`${name} takes no body`);
    return { name, request, limit: bodyLimitOf(name), openBody };
  });
}

type Target = ReturnType<typeof targets>[number];

/**
 * One parser reads the bodies of all routes and differs only in the limit. Bodies that it refuses never reach the
 * route, so one route for each limit is enough.
 */
function* hostileBodies(shape: HostileShape): Generator<{ target: Target; body: HostileBody }> {
  const reachesRoutes = shape.refused !== true && shape.make(100).startsWith('{');
  const limits = new Set<number>();
  for (const target of targets()) {
    const isFirst = !limits.has(target.limit);
    limits.add(target.limit);
    for (const body of bodiesWith(shape, target.request.body as never, target.openBody)) {
      if (body.inField || reachesRoutes || isFirst) yield { target, body };
    }
  }
}

describe.each(HOSTILE_SHAPES)('$name', (shape) => {
  it('do not delay other requests and take little memory, on any route and in any position', async () => {
    const texts = new Map<number, Buffer<ArrayBuffer>>();
    for (const {
      target: { name, request, limit },
      body: { what, inField, around },
    } of hostileBodies(shape)) {
      const most = (inField ? shape.enoughBytesInField : undefined) ?? shape.enoughBytes ?? Infinity;
      const bytes = Math.min(limit - ENVELOPE_BYTES, most);
      const hostile = texts.get(bytes) ?? Buffer.from(shape.make(bytes));
      texts.set(bytes, hostile);
      const text = around(hostile);
      const seen = await watched(() => post(name, request, text));
      expectHarmless(`${name}: ${what}`, seen);
      if (shape.refused) expect({ name, what, status: seen.result }).toEqual({ name, what, status: 400 });
    }
    expect(texts.size).toBeGreaterThan(0);
  });
});

describe('as many elements as a body may have', () => {
  it('do not delay other requests and take little memory, in any list of any route', async () => {
    let lists = 0;
    for (const { name, request, limit } of targets()) {
      for (const { what, text } of longLists(request.body as never, limit)) {
        expectHarmless(`${name}: ${what}`, await watched(() => post(name, request, text)));
        lists += 1;
      }
    }
    expect(lists).toBeGreaterThan(4);
  });
});

describe('the largest bodies that are accepted', () => {
  /** A separate service, so that no test reads another's rows. The organization's gateway has a public address. */
  const agent = (): Promise<string> => service.agent(world.key, { aiGateway: { enabled: false } });
  /** A text that a database cannot compress. */
  const noise = (characters: number): string => randomBytes(characters / 2).toString('hex');

  it('do not delay other requests: ten megabytes of sections, new and then all changed', async () => {
    const request = { params: { agentId: await agent() } };
    for (const what of ['new', 'changed', 'gone']) {
      const count = what === 'gone' ? 0 : 100;
      const sections = Array.from({ length: count }, (_, index) => ({ name: `${index}`, content: noise(100_000) }));
      const seen = await watched(() => post('PUT /v1/agents/:agentId/sections', request, JSON.stringify({ sections })));
      expect(seen.result).toBe(200);
      expectHarmless(what, seen);
    }
  });

  it('do not delay other requests: ten megabytes of history for a new thread', async () => {
    const messages = Array.from({ length: 51 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: noise(200_000),
    }));
    const body = { assistant_id: await agent(), messages };
    const seen = await watched(() => post('POST /v1/chat/completions', {}, JSON.stringify(body)));
    expect(seen.result).toBe(200);
    expectHarmless('a conversation', seen);
  });

  it('do not delay other requests when they are refused: a hundred thousand parts of a form', async () => {
    const part = (index: number): string => `--x\r\ncontent-disposition: form-data; name="f${index}"\r\n\r\n\r\n`;
    const form = `${Array.from({ length: 100_000 }, (_, index) => part(index)).join('')}--x--\r\n`;
    const headers = { authorization: `Bearer ${world.key}`, 'content-type': 'multipart/form-data; boundary=x' };
    const seen = await watched(async () => {
      const answer = await fetch(`${service.baseUrl}/v1/files/upload`, { method: 'POST', headers, body: form });
      return answer.status;
    });
    expect(seen.result).toBe(400);
    expectHarmless('a form', seen);
  });

  it('do not delay other requests: the longest message', async () => {
    const message = { role: 'user', content: '\u{1f600}'.repeat(200_000) };
    const request = { params: { threadId: world.threadId } };
    const seen = await watched(() => post('POST /v1/threads/:threadId/runs', request, JSON.stringify({ message })));
    expect(seen.result).toBe(200);
    expectHarmless('a message', seen);
  });
});
