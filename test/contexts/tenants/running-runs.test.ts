import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CAPABILITIES } from '../../../src/access/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { message, type StreamedEvent, type TestService, until } from '../../support/harness.js';
import { HeldReply } from '../../support/scripted-models.js';
import { endOf, textOf } from '../../support/talk.js';
import { comparable, idsIn, sendAndLeave, Visitor } from './requests.js';
import type { RouteRequest } from './route-case.js';
import { ROUTE_TABLE } from './route-table.js';
import { createWorld, type SkippingClock, startTenants, type World } from './world.js';

const REJOIN = 'GET /v1/threads/:threadId/runs/:runId/stream';
const CANARY = 'a reply to another organization';

let service: TestService;
let replica: TestService;
let clock: SkippingClock;
let visitor: Visitor;
let mine: World;
let victim: World;

beforeAll(async () => {
  ({ service, clock } = await startTenants());
  replica = await service.replica();
  visitor = new Visitor(service, clock);
  mine = await createWorld(service);
  victim = await createWorld(service);
});
afterAll(async () => {
  await replica.close();
  await service.close();
});
beforeEach(() => {
  service.models.upstream.requests.length = 0;
});

/** A world whose ids are their names, to find which ids a request contains. */
function placeholders(runId: string): World {
  return new Proxy({} as World, { get: (_world, name) => (name === 'runId' ? runId : String(name)) });
}

/** Every request of every route that names a run. */
const requests = Object.entries(ROUTE_TABLE).flatMap(([route, { requests: all }]) =>
  all
    .filter((make) => JSON.stringify(make(placeholders('a'))) !== JSON.stringify(make(placeholders('b'))))
    .map((make) => ({ route, how: Object.keys(make(placeholders('a'))).join(' and '), make })),
);

/** A run that is paused in the middle of its reply. */
interface RunningRun {
  readonly threadId: string;
  readonly runId: string;
  /** Continues the run; resolves with all that its owner has read. */
  readonly finish: () => Promise<StreamedEvent[]>;
}

async function startRun(on: TestService, { key, agentId }: World): Promise<RunningRun> {
  const threadId = await service.thread(key, agentId);
  const held = new HeldReply([CANARY], [' and the rest']);
  service.models.next(held.script);
  const events: StreamedEvent[] = [];
  const read = async (): Promise<StreamedEvent[]> => {
    const path = `/v1/threads/${threadId}/runs/stream`;
    for await (const event of on.stream(path, { key, body: message('Tell me') })) events.push(event);
    return events;
  };
  const reading = read();
  await held.asked;
  await until(() => textOf(events) === CANARY, 'the owner reads the reply');
  const finish = (): Promise<StreamedEvent[]> => {
    held.finish();
    return reading;
  };
  return { threadId, runId: String(events[0]?.event['runId']), finish };
}

async function expectUntouched({ runId, finish }: RunningRun): Promise<void> {
  const stored = await service.database.query('select status, cancel_requested_at from runs where id = $1', [runId]);
  expect(stored).toEqual([{ status: 'running', cancel_requested_at: null }]);
  const events = await finish();
  expect(textOf(events)).toBe(`${CANARY} and the rest`);
  expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', result: { run: { id: runId, status: 'completed' } } });
}

/** Requests the run and one that does not exist: the responses are equal, and contain nothing of the run. */
async function expectAbsent(
  route: string,
  { named, invented }: { readonly named: RouteRequest; readonly invented: RouteRequest },
  { key, status, run }: { readonly key: string; readonly status: number; readonly run: RunningRun },
): Promise<void> {
  const ask = async (request: RouteRequest) => visitor.seen(await sendAndLeave(service, route, request, key));
  const answer = await ask(named);
  expect(answer.status).toBe(status);
  expect(answer.text).not.toContain(CANARY);
  if (!idsIn(named).has(run.threadId)) expect(answer.text).not.toContain(run.threadId);
  expect(comparable(answer)).toEqual(comparable(await ask(invented)));
}

describe('the table of routes', () => {
  it('names a run in its path and in the body of a stream', () => {
    const named = requests.map(({ route, how }) => `${route} (${how})`);
    expect(named).toEqual(expect.arrayContaining([`${REJOIN} (params and query)`]));
    expect(named).toEqual(expect.arrayContaining(['POST /v1/threads/:threadId/runs/stream (params and body)']));
    expect(named.length).toBeGreaterThanOrEqual(4);
  });
});

describe.each(['this process', 'another process'])('a run that is under way in %s', (where) => {
  const owner = (): TestService => (where === 'this process' ? service : replica);

  it('exists for its owner, because the tests below would otherwise check nothing', async () => {
    const run = await startRun(owner(), victim);
    const params = { threadId: run.threadId, runId: run.runId };
    const read = await sendAndLeave(service, 'GET /v1/threads/:threadId/runs/:runId', { params }, victim.key);
    expect(read).toMatchObject({ status: 200, text: expect.stringContaining('"running"') });
    const join = async (): Promise<number> => (await sendAndLeave(service, REJOIN, { params }, victim.key)).status;
    // Without Redis another process gets no event before the end.
    const followed = where === 'this process' || process.env['TEST_MODE'] === 'cluster';
    const joined = join();
    if (followed) expect(await joined).toBe(200);
    await expectUntouched(run);
    expect(await joined).toBe(200);
  });

  describe.each(requests)('$route ($how)', ({ route, make }) => {
    it('does not exist for another organization', async () => {
      const run = await startRun(owner(), victim);
      const { threadId, runId } = run;
      const asked = { key: mine.key, status: 404, run };
      const named = make({ ...mine, runId });
      await expectAbsent(route, { named, invented: make({ ...mine, runId: newId() }) }, asked);
      const invented = make({ ...mine, threadId: newId(), runId: newId() });
      await expectAbsent(route, { named: make({ ...mine, threadId, runId }), invented }, asked);
      await expectUntouched(run);
    });

    it('does not exist on another thread of its organization', async () => {
      const run = await startRun(owner(), victim);
      const requests = { named: make({ ...victim, runId: run.runId }), invented: make({ ...victim, runId: newId() }) };
      await expectAbsent(route, requests, { key: victim.key, status: 404, run });
      await expectUntouched(run);
    });

    it('does not exist for a key whose allowlist excludes its agent', async () => {
      const run = await startRun(owner(), victim);
      const { key } = await victim.organization.keyWith(CAPABILITIES, [victim.otherAgentId]);
      const there = { ...victim, threadId: run.threadId };
      const requests = { named: make({ ...there, runId: run.runId }), invented: make({ ...there, runId: newId() }) };
      await expectAbsent(route, requests, { key, status: 403, run });
      await expectUntouched(run);
    });
  });
});
