import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EndOrphanedRuns } from '../../../src/conversations/application/end-orphaned-runs.js';
import { UNKNOWN_RUN_MS } from '../../../src/conversations/engine/tunables.js';
import { newId } from '../../../src/platform/ids/index.js';
import { type StreamedEvent, startService, type TestService, until } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, HeldReply, says } from '../../support/scripted-models.js';
import { during, output, scriptedTurns, tool } from '../../support/scripted-turns.js';
import { endOf, Talk, textOf } from '../../support/talk.js';

const HEARTBEAT_MS = 5_000;
const RECONCILE_MS = 10_000;

const clock = new ManualClock();
let service: TestService;

beforeAll(async () => {
  service = await startService({ clock, extensions: scriptedTurns });
});
afterAll(() => service.close());
beforeEach(() => {
  service.models.reset();
});

/** Hands the thread's run to a process that died `silentFor` seconds ago, as far as the database knows. */
async function disown(talk: Talk, silentFor = 60): Promise<void> {
  const owner = newId();
  await service.database.query(
    `insert into run_owners (id, started_at, heartbeat_at) values ($1, now(), now() - make_interval(secs => $2::int))`,
    [owner, silentFor],
  );
  await service.database.query(`update runs set owner_id = $1 where thread_id = $2 and status = 'running'`, [owner, talk.threadId]);
}

describe('a run whose process is dead', () => {
  it('is ended by another process: failed with internal, the thread free again', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Never stored']);
    service.models.next(held.script);
    const streaming = talk.streamed('Hi');
    await held.asked;
    await disown(talk);

    await clock.advance(RECONCILE_MS);
    await until(async () => (await talk.storedRun())?.status === 'failed', 'the run is ended');

    expect(await talk.storedRun()).toMatchObject({ error: { code: 'internal' } });
    expect(await talk.trace()).toMatchObject({ status: 'failed', usage: { inputTokens: null } });
    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    held.finish();
    service.models.next(says('Back'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(await talk.lines()).toEqual(['user: Hi', 'user: Again', 'assistant: Back']);
  });

  it('keeps what it had stored, its calls under way as unknown; they are never made again', async () => {
    const talk = await Talk.start(service);
    let ran = 0;
    let finish: () => void = () => undefined;
    during(talk.threadId, {
      tools: [tool('pay', async () => {
        ran += 1;
        await new Promise<void>((resolve) => (finish = resolve));
        return output('paid');
      })],
    });
    service.models.next(answers({ text: 'Paying.', calls: [{ id: 'payment', name: 'pay', input: { sum: 5 } }] }));
    const streaming = talk.streamed('Pay');
    await until(() => ran === 1, 'the tool runs');
    await disown(talk);
    await service.app.get(EndOrphanedRuns).sweep(20);
    finish();

    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect((await talk.messages())[1]).toMatchObject({
      content: 'Paying.',
      status: 'incomplete',
      toolCalls: [{ id: 'payment', status: 'unknown' }],
    });
    service.models.next(says('I do not know whether it was paid.'));
    expect(await talk.run('Did it work?')).toMatchObject({ status: 200 });
    expect(ran).toBe(1);
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toEqual([
      { id: 'payment', output: expect.stringContaining('unknown'), isError: true },
    ]);
  });

  it('is ended, too, when its process lives and does not know it: the answer to its start was lost', async () => {
    const talk = await Talk.start(service);
    const { database } = service;
    const [owner] = await database.query<{ id: string }>('select id from run_owners order by started_at desc limit 1');
    const own = [newId(), talk.organization.id, talk.threadId, talk.agentId, owner?.id, newId(), clock.now().toISOString()];
    await database.query(
      `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, created_at, provider, model, use_own_api_key)
       values ($1, $2, $3, $4, $5, $6, 'running', $7::timestamptz, 'anthropic', 'any', false)`,
      own,
    );
    expect(await talk.run('Too early')).toMatchObject({ status: 409 });
    await service.app.get(EndOrphanedRuns).sweep(20);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });

    await clock.advance(UNKNOWN_RUN_MS + RECONCILE_MS);
    await until(async () => (await talk.storedRun())?.status === 'failed', 'the run is ended');
    service.models.next(says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ status: 200 });
  });

  it('is left alone while its process still says that it lives', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await disown(talk, 5);
    await service.app.get(EndOrphanedRuns).sweep(20);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    await disown(talk);
    await service.app.get(EndOrphanedRuns).sweep(20);
    held.finish();
    await running;
  });
});

describe('a process that has lost a run', () => {
  it('breaks it off at its next heartbeat, and stores nothing over what the other stored', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half an answer']);
    service.models.next(held.script);
    const events: StreamedEvent[] = [];
    for await (const event of talk.stream('Hi')) {
      events.push(event);
      if (textOf(events) !== 'Half an answer' || event.event.type !== 'TEXT_MESSAGE_CONTENT') continue;
      await disown(talk);
      await service.app.get(EndOrphanedRuns).sweep(20);
      await clock.advance(HEARTBEAT_MS);
    }
    await (await held.asked).disconnected;
    held.finish();

    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect(await talk.lines()).toEqual(['user: Hi']);
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    const traces = await service.http<{ traces: unknown[] }>('GET', `/v1/agents/${talk.agentId}/traces`, { key: talk.key });
    expect(traces.body.traces).toHaveLength(1);
  });

  it.each(['threads', 'agents'])('cancels it at its next heartbeat when another process has deleted it with its %s', async (table) => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half an answer']);
    service.models.next(held.script);
    const streaming = talk.streamed('Hi');
    const asked = await held.asked;
    const id = table === 'threads' ? talk.threadId : talk.agentId;
    await service.database.query(`delete from ${table} where id = $1`, [id]);
    await clock.advance(HEARTBEAT_MS);
    await asked.disconnected;
    held.finish();
    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  });

  it('keeps those that are its own', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await clock.advance(4 * HEARTBEAT_MS);
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
  });
});
