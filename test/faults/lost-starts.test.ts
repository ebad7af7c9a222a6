import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseOutage } from '../../src/conversations/engine/database-outage.js';
import { LATE_START_MS, OUTAGE_MS, UNKNOWN_RUN_MS } from '../../src/conversations/engine/limits.js';
import { RunHeartbeat } from '../../src/conversations/application/run-heartbeat.js';
import { RunReconciler } from '../../src/conversations/application/run-reconciler.js';
import { RunOwner } from '../../src/conversations/engine/run-owner.js';
import { RunRepository } from '../../src/conversations/persistence/run.repository.js';
import { DatabaseUnavailable } from '../../src/platform/database/index.js';
import { countingRuns } from '../support/counted-runs.js';
import { useDatabaseOutages } from '../support/database-outages.js';
import { message, until } from '../support/harness.js';
import { clusterOnly } from '../support/modes.js';
import { says } from '../support/scripted-models.js';
import { endOf, Talk } from '../support/talk.js';

const { clock, service, passing, makeUnavailable } = useDatabaseOutages();

describe('a start that failed because the database was unreachable', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  type Start = RunRepository['start'];

  const KEY = { 'idempotency-key': 'once' };

  /** The next start fails as if the database were unreachable, after `instead`. */
  function failNextStart(instead: (start: Start, ...given: Parameters<Start>) => Promise<void>): void {
    const runs = service.app.get(RunRepository);
    const start = runs.start.bind(runs);
    jest.spyOn(runs, 'start').mockImplementationOnce(async (...given) => {
      await instead(start, ...given);
      throw new DatabaseUnavailable(new Error('The answer was lost'));
    });
  }

  async function failingStart(instead: Parameters<typeof failNextStart>[0], headers = {}): Promise<Talk> {
    const talk = await Talk.start(service);
    failNextStart(instead);
    expect(await talk.post(message('Hi'), headers)).toMatchObject({ status: 503 });
    return talk;
  }

  const stored = async (start: Start, ...given: Parameters<Start>): Promise<void> => {
    await start(...given);
  };

  it('keeps no thread busy when it was stored all the same', async () => {
    const talk = await failingStart(stored);
    await until(async () => (await talk.storedRun())?.status === 'failed', 'the run is ended');
    service.models.next(says('Hello'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
  });

  it('is looked for again, since its statement may still be under way', async () => {
    let late: () => Promise<unknown> = () => Promise.resolve();
    const talk = await failingStart((start, ...given) => {
      late = () => start(...given);
      return Promise.resolve();
    });
    service.app.get(RunHeartbeat).contact.lost();
    await late();
    // Repeated, because the first look may have begun before the run was stored.
    await until(async () => {
      await service.app.get(RunReconciler).reconcile();
      return (await talk.storedRun())?.status === 'failed';
    }, 'the run is ended');
    expect(await talk.storedRun()).toMatchObject({ error: { code: 'internal' } });
  });

  describe('and whose request has a key', () => {
    it('is executed all the same, so that a repeat gets the reply', async () => {
      service.models.next(says('Hello'));
      const counted = await countingRuns(service);
      const talk = await failingStart(stored, KEY);
      const repeated = await passing(talk.post(message('Hi'), KEY));
      expect(repeated).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });
      expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
      expect(await counted()).toEqual([{ completed: 1 }]);
    });

    it('is executed all the same, so that a repeat gets the stream', async () => {
      service.models.next(says('Hello'));
      const talk = await Talk.start(service);
      failNextStart(stored);
      await expect(talk.streamedBody(message('Hi'), KEY)).rejects.toThrow('503');
      const events = await passing(talk.streamedBody(message('Hi'), KEY));
      expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', result: { message: { content: 'Hello' } } });
      expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
    });

    it('is executed when it is stored only after the database was back', async () => {
      service.models.next(says('Hello'));
      let late: () => Promise<unknown> = () => Promise.resolve();
      const talk = await failingStart((start, ...given) => {
        late = () => start(...given);
        return Promise.resolve();
      }, KEY);
      await clock.advance(LATE_START_MS);
      await late();
      // A process does not take a run for an orphan that it looks for.
      await clock.advance(UNKNOWN_RUN_MS / 2);
      await service.app.get(RunReconciler).reconcile();
      await until(async () => {
        await clock.advance(LATE_START_MS);
        return (await talk.storedRun())?.status === 'completed';
      }, 'the run is executed');
      expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
    });

    it('is executed with the messages before it', async () => {
      service.models.next(says('First'), says('Second'));
      const talk = await Talk.start(service);
      await talk.run('one');
      failNextStart(stored);
      expect(await talk.post(message('two'), KEY)).toMatchObject({ status: 503 });
      expect(await passing(talk.post(message('two'), KEY))).toMatchObject({ body: { message: { content: 'Second' } } });
      const { messages } = service.models.requests.at(-1)?.body as { messages: unknown[] };
      expect(JSON.stringify(messages)).toMatch(/one.*First.*two/);
    });

    it('is not executed any further when a user has cancelled it meanwhile', async () => {
      const talk = await Talk.start(service);
      failNextStart(async (start, ...given) => {
        await start(...given);
        const [, { id }] = given;
        await service.database.query('update runs set cancel_requested_at = now() where id = $1', [id]);
      });
      expect(await talk.post(message('Hi'), KEY)).toMatchObject({ status: 503 });
      await until(async () => (await talk.storedRun())?.status === 'cancelled', 'the run is cancelled');
      expect(service.models.requests).toEqual([]);
    });

    it('is executed after an outage that was too long for the starts before it', async () => {
      service.models.next(says('Hello'));
      const outage = service.app.get(DatabaseOutage);
      const early = await failingStart(() => Promise.resolve(), KEY);
      const looking = jest.spyOn(outage, 'outlast').mockImplementation(() => {
        return clock.sleep(OUTAGE_MS).then(() => Promise.reject(new DatabaseUnavailable(new Error('Away'))));
      });
      await until(async () => {
        await clock.advance(LATE_START_MS);
        return looking.mock.calls.length > 0;
      }, 'the early one is looked for in vain');
      await clock.advance(OUTAGE_MS - LATE_START_MS);
      const late = await failingStart(stored, KEY);
      looking.mockRestore();
      await clock.advance(LATE_START_MS);
      await until(async () => {
        await clock.advance(LATE_START_MS);
        return (await late.storedRun())?.status === 'completed';
      }, 'the late one is executed');
      expect(await early.storedRun()).toBeUndefined();
      expect(service.app.get(RunOwner).lateStarts.size).toBe(0);
    });

    it('leaves nothing behind when it was not stored', async () => {
      service.models.next(says('Hello'));
      const talk = await failingStart(() => Promise.resolve(), KEY);
      expect(service.app.get(RunOwner).lateStarts.size).toBe(1);
      await until(async () => {
        await clock.advance(LATE_START_MS);
        return service.app.get(RunOwner).lateStarts.size === 0;
      }, 'it is looked for no more');
      expect(await passing(talk.post(message('Hi'), KEY))).toMatchObject({ status: 200 });
      expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
    });
  });
});

clusterOnly('a request with a key during an outage', () => {
  const KEY = { 'idempotency-key': 'once' };

  it.each(['answers lost', 'stalled'] as const)('runs once, whatever became of its first attempt (%s)', async (how) => {
    service.models.next(says('Hello'));
    const talk = await Talk.start(service);
    const bringBack = await makeUnavailable(how);
    expect(await talk.post(message('Hi'), KEY)).toMatchObject({ status: 503 });
    await bringBack();
    let answer = await passing(talk.post(message('Hi'), KEY));
    await until(async () => {
      // The pool may not have found out yet.
      if (answer.status === 503) answer = await passing(talk.post(message('Hi'), KEY));
      return answer.status !== 503;
    }, 'the database is back');
    expect(answer).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'Hello' } },
    });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
  });

  it('is not looked for when no connection could be made', async () => {
    const talk = await Talk.start(service);
    const { lateStarts } = service.app.get(RunOwner);
    const bringBack = await makeUnavailable('cut');
    // Finds out that the idle connections are dead.
    await service.http('GET', talk.path, { key: talk.key });
    const before = [...lateStarts];
    expect(await talk.post(message('Hi'), KEY)).toMatchObject({ status: 503 });
    expect([...lateStarts]).toEqual(before);
    await bringBack();
  });
});
