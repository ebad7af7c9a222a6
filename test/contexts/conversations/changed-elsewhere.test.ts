import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { JoinRun } from '../../../src/conversations/application/join-run.js';
import { message, startService, type TestService, until, useService } from '../../support/harness.js';
import { heldRun, heldStream } from '../../support/held-run.js';
import { ManualClock } from '../../support/manual-clock.js';
import { clusterOnly } from '../../support/modes.js';
import { answers, HeldReply, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk } from '../../support/talk.js';

const CANCELLED = { type: 'RUN_FINISHED', outcome: { type: 'cancelled' }, result: { run: { status: 'cancelled' } } };

// Both processes have a clock that stands still: no heartbeat finds the change, and nothing is read a second time.
clusterOnly.each([
  ['Redis', {}],
  ['the database, without Redis', { REDIS_URL: '' }],
])('a run of another process, told over %s', (_over, environment) => {
  const clock = new ManualClock();
  let service: TestService;
  let replica: TestService;

  beforeAll(async () => {
    service = await startService({ clock, environment });
    replica = await service.replica();
  });
  afterAll(async () => {
    await replica.close();
    await service.close();
  });
  beforeEach(() => service.models.reset());

  it('ends at once when it is cancelled, and so does the waiting for its end', async () => {
    const { talk, held, running, runId } = await heldStream(service);
    const cancelled = await replica.http('POST', `${talk.path}/runs/${runId}/cancel`, { key: talk.key });
    expect(cancelled).toMatchObject({
      status: 200,
      body: { run: { status: 'cancelled' }, message: { content: 'Half' } },
    });
    expect(endOf(await running)).toMatchObject(CANCELLED);
    held.finish();
  });

  it.each([
    ['thread', ({ path }: Talk) => path],
    ['agent', ({ agentId }: Talk) => `/v1/agents/${agentId}`],
  ])('ends at once as cancelled when its %s is deleted', async (_what, pathOf) => {
    const { talk, held, running } = await heldStream(service);
    const deleted = await replica.http('DELETE', pathOf(talk), { key: talk.key });
    expect(deleted.status).toBeLessThan(300);
    expect(endOf(await running)).toMatchObject({ ...CANCELLED, result: { message: { content: 'Half' } } });
    held.finish();
  });
});

/** Requests that start the same run when they are repeated. */
const REPEATED: readonly [string, (talk: Talk) => { path: string; body: object }][] = [
  ['a waiting run', ({ path }) => ({ path: `${path}/runs`, body: message('Hi') })],
  ['a stream', ({ path }) => ({ path: `${path}/runs/stream`, body: message('Hi') })],
  ['AG-UI', ({ agentId }) => ({ path: `/v1/agents/${agentId}/ag-ui`, body: agUiInput() })],
  ['a chat completion', ({ agentId }) => ({ path: '/v1/chat/completions', body: completionBody(agentId, false) })],
  [
    'a streamed chat completion',
    ({ agentId }) => ({ path: '/v1/chat/completions', body: completionBody(agentId, true) }),
  ],
];

function agUiInput(): object {
  const messages = [{ id: 'm', role: 'user', content: 'Hi' }];
  return { threadId: 'mine', runId: 'r', messages, tools: [], context: [], state: {}, forwardedProps: {} };
}

function completionBody(assistant_id: string, stream: boolean): object {
  return { assistant_id, stream, messages: [{ role: 'user', content: 'Hi' }] };
}

describe('a caller on another replica, when the agent is deleted during the run', () => {
  const clock = new ManualClock();
  const service = useService({ clock });
  let replica: TestService;
  beforeAll(async () => {
    replica = await service.replica();
  });
  afterAll(() => replica.close());

  it.each(REPEATED)('of %s is answered a cancelled run, as the first caller is', async (_what, requestOf) => {
    const talk = await Talk.start(service);
    const { path, body } = requestOf(talk);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const send = (on: TestService) =>
      on.http('POST', path, { key: talk.key, body, headers: { 'idempotency-key': `key-${talk.agentId}` } });
    const first = send(service);
    await held.asked;
    const join = jest.spyOn(replica.app.get(JoinRun), 'join');
    const second = send(replica);
    await until(() => join.mock.results.length > 0, 'the other replica has found the run');
    await join.mock.results[0]?.value;
    join.mockRestore();
    await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key });
    const answered = { count: 0 };
    for (const answer of [first, second]) void answer.then(() => (answered.count += 1));
    await until(async () => {
      await clock.advance(500);
      return answered.count === 2;
    }, 'both callers are answered');
    held.finish();
    for (const { status, text } of [await first, await second]) {
      expect(status).toBe(200);
      expect(text).not.toMatch(/RUN_ERROR|internal|"error":\{/);
      if (!path.includes('completions')) expect(text).toContain('"cancelled"');
    }
  });
});

/** As another process does, before its signal arrives: large threads, and those of an agent, lose their rows later. */
const DELETIONS: readonly [string, (talk: Talk) => [sql: string, id: string]][] = [
  ['thread was deleted', ({ threadId }) => ['delete from threads where id = $1', threadId]],
  [
    'thread was deleted and still has its row',
    ({ threadId }) => ['update threads set deleted_at = now() where id = $1', threadId],
  ],
  ['agent was deleted', ({ agentId }) => ['delete from agents where id = $1', agentId]],
];

describe.each(DELETIONS)('a run that ends after its %s, before its process has heard of it', (_what, deletionOf) => {
  const clock = new ManualClock();
  const service = useService({ clock, extensions: scriptedRuns });

  async function remove(talk: Talk): Promise<void> {
    const [sql, id] = deletionOf(talk);
    await service.database.query(sql, [id]);
  }

  /** Nothing is left of it as it would have been. */
  async function expectCancelled({ threadId }: Talk): Promise<void> {
    const rows = await service.database.query<{ status: string }>('select status from runs where thread_id = $1', [
      threadId,
    ]);
    expect(rows.filter(({ status }) => status !== 'cancelled')).toEqual([]);
    const traced = 'select status from traces where thread_id = $1';
    const traces = await service.database.query<{ status: string }>(traced, [threadId]);
    expect(traces.filter(({ status }) => status !== 'cancelled')).toEqual([]);
  }

  it('ends as cancelled, for its stream', async () => {
    const { talk, held, running } = await heldStream(service);
    await remove(talk);
    held.finish();
    expect(endOf(await running)).toMatchObject({ ...CANCELLED, result: { message: { status: 'incomplete' } } });
    await expectCancelled(talk);
  });

  it('ends as cancelled, for its waiting caller', async () => {
    const { talk, held, running } = await heldRun(service);
    await remove(talk);
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { run: { status: 'cancelled', error: null } } });
    await expectCancelled(talk);
  });

  it('calls no tool any more', async () => {
    const talk = await Talk.start(service);
    let calls = 0;
    const offered = tool('act', () => {
      calls += 1;
      return output('done');
    });
    during(talk.threadId, { tools: [offered] });
    const call = answers({ calls: [{ id: 'c', name: 'act' }] });
    service.models.next(async (exchange, wire) => {
      await remove(talk);
      await call(exchange, wire);
    });
    service.models.next(says('Done'));
    expect(await talk.run('Go')).toMatchObject({ status: 200, body: { run: { status: 'cancelled', error: null } } });
    expect(calls).toBe(0);
    await expectCancelled(talk);
  });
});
