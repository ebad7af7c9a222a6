import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RunReconciler } from '../../../src/conversations/application/run-reconciler.js';
import { RunHeartbeat } from '../../../src/conversations/application/run-heartbeat.js';
import { RunOwner } from '../../../src/conversations/engine/run-owner.js';
import {
  HEARTBEAT_MS,
  RECONCILE_MS,
  STORE_AGAIN_MS,
  STORE_PAUSE_MS,
  UNKNOWN_RUN_MS,
} from '../../../src/conversations/engine/limits.js';
import { RunRepository } from '../../../src/conversations/persistence/run.repository.js';
import { Database } from '../../../src/platform/database/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { countingRuns } from '../../support/counted-runs.js';
import { type StreamedEvent, type TestService, until, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { refuseRows } from '../../support/refuse-rows.js';
import { answers, HeldReply, says } from '../../support/scripted-models.js';
import { disown, endOrphan, endOrphans, heartbeatsOver, ownerOf, ageHeartbeats } from '../../support/run-owners.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk, textOf } from '../../support/talk.js';

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });
/** Another process on the same database. */
let replica: TestService;

beforeAll(async () => {
  replica = await service.replica();
});
afterAll(() => replica.close());

/** Advances the clock until the run is ended. */
async function untilEnded(talk: Talk): Promise<void> {
  await until(async () => {
    await clock.advance(RECONCILE_MS);
    return (await talk.storedRun())?.status === 'failed';
  }, 'the run is ended');
}

/** Advances the clock by so long, while both processes store heartbeats and look for orphans. */
async function live(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds * 1_000; passed += HEARTBEAT_MS) {
    await clock.advance(HEARTBEAT_MS);
    for (const { app } of [service, replica]) {
      await app.get(RunHeartbeat).beat();
      await app.get(RunReconciler).reconcile();
    }
  }
}

/** Waits until the process knows that its ends are stored, which is after others see them. */
function untilSettled(): Promise<void> {
  return until(() => service.app.get(RunOwner).unsettled.size === 0, 'no end is left to be stored');
}

describe('a run whose process is dead', () => {
  it('is ended by another process as failed with internal, and the thread is free', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Never stored']);
    service.models.next(held.script);
    const streaming = talk.streamed('Hi');
    await held.asked;
    await disown(service, talk);

    await untilEnded(talk);

    expect(await talk.storedRun()).toMatchObject({ error: { code: 'internal' } });
    expect(await talk.trace()).toMatchObject({ status: 'failed', usage: { inputTokens: null } });
    await heartbeatsOver(service);
    await clock.advance(HEARTBEAT_MS);
    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    held.finish();
    service.models.next(says('Back'));
    service.models.next(says('Hello'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(await talk.lines()).toEqual(['user: Hi', 'user: Again', 'assistant: Back']);
  });

  it('keeps its stored message, with calls under way as unknown; they are never repeated', async () => {
    const talk = await Talk.start(service);
    let ran = 0;
    let finish: () => void = () => undefined;
    during(talk.threadId, {
      tools: [
        tool('pay', async () => {
          ran += 1;
          await new Promise<void>((resolve) => (finish = resolve));
          return output('paid');
        }),
      ],
    });
    service.models.next(answers({ text: 'Paying.', calls: [{ id: 'payment', name: 'pay', input: { sum: 5 } }] }));
    const streaming = talk.streamed('Pay');
    await until(() => ran === 1, 'the tool runs');
    await disown(service, talk);
    await endOrphan(replica, talk);
    await clock.advance(HEARTBEAT_MS);
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

  it('is also ended when its process lives but does not know it, since the response to its start was lost', async () => {
    const talk = await Talk.start(service);
    const { database } = service;
    const ids = [talk.organization.id, talk.threadId, talk.agentId, ownerOf(service)];
    const own = [newId(), ...ids, newId(), clock.now().toISOString()];
    await database.query(
      `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, created_at, provider, model, use_own_api_key)
       values ($1, $2, $3, $4, $5, $6, 'running', $7::timestamptz, 'anthropic', 'any', false)`,
      own,
    );
    expect(await talk.run('Too early')).toMatchObject({ status: 409 });
    for (const process of [service, replica]) await endOrphans(process);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });

    await clock.advance(UNKNOWN_RUN_MS);
    await untilEnded(talk);
    service.models.next(says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ status: 200 });
  });

  it('is not ended while its process stores heartbeats', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await disown(service, talk, 5);
    await endOrphans(replica);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    await disown(service, talk);
    await endOrphan(replica, talk);
    held.finish();
    await running;
  });
});

describe('an outage of the database', () => {
  it('costs no process its runs: each stores a heartbeat before others may end its runs', async () => {
    const [here, there] = [await Talk.start(service), (await Talk.start(service)).on(replica)];
    const held = [new HeldReply(['Half'], [' and half']), new HeldReply(['Half'], [' and half'])] as const;
    service.models.next(held[0].script);
    const running = [here.run('Hi')];
    await held[0].asked;
    service.models.next(held[1].script);
    running.push(there.run('Hi'));
    await held[1].asked;
    await live(25);

    await ageHeartbeats(service);
    // This process comes back first, repeatedly, before the other one stores a heartbeat.
    for (let tries = 0; tries < 3; tries += 1) expect(await service.app.get(RunReconciler).reconcile()).toBe(0);
    await live(60);

    for (const reply of held) reply.finish();
    for (const answer of await Promise.all(running)) {
      expect(answer).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
    }
  });

  it('lets the runs of processes end that do not come back in time', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await live(25);
    await ageHeartbeats(service);
    await disown(service, talk, 5);
    await ageHeartbeats(service);

    await live(15);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    // Longer than needed on a slow machine: after a pause the contact starts again.
    await until(async () => {
      await live(15);
      return (await talk.storedRun())?.status === 'failed';
    }, 'the run is ended');
    expect(await talk.storedRun()).toMatchObject({ error: { code: 'internal' } });
    held.finish();
    await running;
  });

  it('makes a check that continues after it end nothing: the checking process needs a recent heartbeat', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await ageHeartbeats(service);
    expect(await replica.app.get(RunReconciler).sweep(20)).toBe(0);
    await live(5);
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
  });

  it('makes a check that began before it end nothing, even after a new heartbeat', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    const look = holdLook(replica);
    const looked = replica.app.get(RunReconciler).sweep(20);
    await look.begun;
    await ageHeartbeats(service);
    await replica.app.get(RunHeartbeat).beat();
    look.goOn();
    expect(await looked).toBe(0);
    await service.app.get(RunHeartbeat).beat();
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
  });
});

/** Holds a check for orphans before its first transaction until the returned function is called. */
function holdLook({ app }: TestService): { readonly begun: Promise<void>; readonly goOn: () => void } {
  const database = app.get(Database);
  const transaction = database.transaction.bind(database);
  let tell: () => void = () => undefined;
  let goOn: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (tell = resolve));
  const release = new Promise<void>((resolve) => (goOn = resolve));
  const held = jest.spyOn(database, 'transaction').mockImplementation(async (work) => {
    tell();
    await release;
    held.mockRestore();
    return transaction(work);
  });
  return { begun, goOn };
}

describe('a process', () => {
  /** Makes the database refuse the ends that processes store of their own runs, but not those of a reconciler. */
  function refuseOwnEnds(): Promise<() => Promise<unknown>> {
    const isOwn = `new.error ->> 'message' is distinct from 'The service stopped while this run was under way.'`;
    const when = `new.status <> 'running' and ${isOwn}`;
    return refuseRows(service.database, { change: 'update', on: 'runs', when, error: 'disk_full' });
  }

  it('runs one check for orphans at a time: a concurrent call gets its result', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await endOrphans(replica);
    await disown(service, talk);
    await replica.app.get(RunHeartbeat).beat();
    const look = holdLook(replica);
    const looks = [1, 2].map(() => replica.app.get(RunReconciler).sweep(20));
    await look.begun;
    look.goOn();
    expect(await Promise.all(looks)).toEqual([1, 1]);
    held.finish();
    await running;
  });

  it('never takes a run that it knows, even with an old heartbeat', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await clock.advance(UNKNOWN_RUN_MS);
    // Otherwise the call would join a scheduled check.
    await service.app.get(RunReconciler).reconcile();
    await ageHeartbeats(service);
    expect(await service.app.get(RunReconciler).sweep(0)).toBe(0);
    held.finish();
    expect(await running).toMatchObject({ status: 200 });
  });

  it('keeps a reply until it is stored: no other process ends the run, and the heartbeats include it', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('A whole reply'));
    const counted = await countingRuns(service, replica);
    const accept = await refuseOwnEnds();
    let answered: number | undefined;
    void talk.run('Hi').then(({ status }) => (answered = status));
    await until(async () => {
      await clock.advance(STORE_PAUSE_MS);
      return answered !== undefined;
    }, 'the caller gets the response');
    expect(answered).toBe(500);
    const run = await talk.storedRun();
    const beat = jest.spyOn(service.app.get(RunRepository), 'beat');

    await ageHeartbeats(service);
    for (const { app } of [service, replica]) expect(await app.get(RunReconciler).reconcile()).toBe(0);
    await live(60);

    expect(beat).toHaveBeenLastCalledWith(expect.arrayContaining([run?.id]));
    beat.mockRestore();
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    expect(await counted()).toEqual([{}, {}]);
    await accept();
    await until(async () => {
      await clock.advance(STORE_AGAIN_MS);
      return (await talk.storedRun())?.status === 'failed';
    }, 'the end is stored');
    expect((await talk.messages())[1]).toMatchObject({ content: 'A whole reply', status: 'incomplete' });
    await untilSettled();
    expect(await counted()).toEqual([{ failed: 1 }, {}]);
  });
});

describe('an end that the database refuses because of an observer’s rows', () => {
  it('is stored without them, and frees the thread', async () => {
    const accept = await refuseRows(service.database, { change: 'insert', on: 'traces', error: 'raise_exception' });
    const talk = await Talk.start(service);
    const counted = await countingRuns(service, replica);
    service.models.next(says('A whole reply'));
    expect(await talk.run('Hi')).toMatchObject({ status: 500 });
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });

    await until(async () => {
      await clock.advance(STORE_AGAIN_MS);
      return (await talk.storedRun())?.status === 'failed';
    }, 'the end is stored');

    await accept();
    expect((await talk.messages())[1]).toMatchObject({ content: 'A whole reply', status: 'incomplete' });
    await untilSettled();
    expect(await counted()).toEqual([{ failed: 1 }, {}]);
    service.models.next(says('Hello'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
  });
});

describe('a process that has lost a run', () => {
  it('aborts it at its next heartbeat, and does not overwrite the stored end', async () => {
    const talk = await Talk.start(service);
    const counted = await countingRuns(service, replica);
    const held = new HeldReply(['Half an answer']);
    service.models.next(held.script);
    const events: StreamedEvent[] = [];
    for await (const event of talk.stream('Hi')) {
      events.push(event);
      if (textOf(events) !== 'Half an answer' || event.event.type !== 'TEXT_MESSAGE_CONTENT') continue;
      await heartbeatsOver(service);
      await disown(service, talk);
      await endOrphan(replica, talk);
      await clock.advance(HEARTBEAT_MS);
    }
    await (
      await held.asked
    ).disconnected;
    held.finish();

    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect(await talk.lines()).toEqual(['user: Hi']);
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    const traces = await service.http<{ traces: unknown[] }>('GET', `/v1/agents/${talk.agentId}/traces`, {
      key: talk.key,
    });
    expect(traces.body.traces).toHaveLength(1);
    expect(await counted()).toEqual([{}, { failed: 1 }]);
  });

  it.each(['threads', 'agents'])(
    'cancels it at its next heartbeat when another process has deleted its %s',
    async (table) => {
      const talk = await Talk.start(service);
      const held = new HeldReply(['Half an answer']);
      service.models.next(held.script);
      const streaming = talk.streamed('Hi');
      const asked = await held.asked;
      const id = table === 'threads' ? talk.threadId : talk.agentId;
      await heartbeatsOver(service);
      await service.database.query(`delete from ${table} where id = $1`, [id]);
      await clock.advance(HEARTBEAT_MS);
      await asked.disconnected;
      held.finish();
      expect(endOf(await streaming)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    },
  );

  it('keeps its other runs', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await clock.advance(4 * HEARTBEAT_MS);
    await heartbeatsOver(service);
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
  });
});
