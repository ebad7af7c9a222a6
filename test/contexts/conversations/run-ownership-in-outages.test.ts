import { describe, expect, it, jest } from '@jest/globals';
import { RunReconciler } from '../../../src/conversations/application/run-reconciler.js';
import { RunHeartbeat } from '../../../src/conversations/application/run-heartbeat.js';
import { RunOwner } from '../../../src/conversations/engine/run-owner.js';
import { HEARTBEAT_MS, STORE_AGAIN_MS, PROBE_MS, UNKNOWN_RUN_MS } from '../../../src/conversations/engine/limits.js';
import { RunRepository } from '../../../src/conversations/persistence/run.repository.js';
import { Database } from '../../../src/platform/database/index.js';
import { countingRuns } from '../../support/counted-runs.js';
import { type TestService, until, useReplica, useService } from '../../support/harness.js';
import { heldRun } from '../../support/held-run.js';
import { ManualClock } from '../../support/manual-clock.js';
import { readPrometheusText, sampleOf } from '../../support/prometheus-text.js';
import { refuseRows } from '../../support/refuse-rows.js';
import { says } from '../../support/scripted-models.js';
import { disown, endOrphans, ageHeartbeats } from '../../support/run-owners.js';
import { scriptedRuns } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });
const replica = useReplica(service);

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

async function waitingRuns(): Promise<number | undefined> {
  const { text } = await service.http('GET', '/metrics');
  return sampleOf(readPrometheusText(text), 'agent_service_runs_waiting_for_database');
}

/** Waits until the process knows that its ends are stored, which is after others see them. */
function untilSettled(): Promise<void> {
  return until(() => service.app.get(RunOwner).unsettled.size === 0, 'no end is left to be stored');
}

describe('an outage of the database', () => {
  it('costs no process its runs: each stores a heartbeat before others may end its runs', async () => {
    const runs = [await heldRun(service), await heldRun(replica)];
    await live(25);

    await ageHeartbeats(service);
    // This process comes back first, repeatedly, before the other one stores a heartbeat.
    for (let tries = 0; tries < 3; tries += 1) expect(await service.app.get(RunReconciler).reconcile()).toBe(0);
    await live(60);

    for (const { held } of runs) held.finish();
    for (const { running } of runs) {
      expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
    }
  });

  it('lets the runs of processes end that do not come back in time', async () => {
    const { talk, held, running } = await heldRun(service);
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
    const { held, running } = await heldRun(service);
    await ageHeartbeats(service);
    expect(await replica.app.get(RunReconciler).sweep(20)).toBe(0);
    await live(5);
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
  });

  it('makes a check that began before it end nothing, even after a new heartbeat', async () => {
    const { held, running } = await heldRun(service);
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
    const { talk, held, running } = await heldRun(service);
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
    const { held, running } = await heldRun(service);
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
    let answered = false;
    const answer = talk.run('Hi');
    void answer.then(() => (answered = true));
    await until(async () => (await waitingRuns()) === 1, 'the run waits for the database');
    const run = await talk.storedRun();
    const beat = jest.spyOn(service.app.get(RunRepository), 'beat');

    await ageHeartbeats(service);
    for (const { app } of [service, replica]) expect(await app.get(RunReconciler).reconcile()).toBe(0);
    await live(60);

    expect(beat).toHaveBeenLastCalledWith(expect.arrayContaining([run?.id]));
    beat.mockRestore();
    expect(answered).toBe(false);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    expect(await counted()).toEqual([{}, {}]);
    await accept();
    await until(async () => {
      await clock.advance(PROBE_MS);
      return answered;
    }, 'the end is stored');
    expect(await answer).toMatchObject({ status: 200, body: { message: { content: 'A whole reply' } } });
    expect((await talk.messages())[1]).toMatchObject({ content: 'A whole reply', status: 'completed' });
    expect(await counted()).toEqual([{ completed: 1 }, {}]);
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
