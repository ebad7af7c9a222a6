import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { getQueueToken } from '@nestjs/bullmq';
import type { TestingModule } from '@nestjs/testing';
import type { Queue } from 'bullmq';
import { z } from 'zod';
import {
  type Behaviour,
  embeddedJobDatabase,
  gate,
  handlerOf,
  type JobDatabase,
  JobSite,
  type Note,
  type NoteJob,
  noteSchema,
  type ProcessOptions,
  serverJobDatabase,
  until,
  untilAborted,
} from '../../../test/support/job-site.js';
import { clusterOnly } from '../../../test/support/modes.js';
import { ShutdownState } from '../lifecycle/index.js';
import { defineJob, jobsSchema, Outbox } from './index.js';
import type { EnqueueOptions } from './outbox.js';
import { JobRegistry, SCHEDULES } from './job-registry.js';
import { OutboxRelay } from './outbox-relay.js';
import { OutboxStore } from './outbox.sql.js';
import { WorkerPresence } from './worker-presence.js';
import {
  ABORT_GRACE_MS,
  CLAIM_LEASE_MS,
  DEAD_KEPT_MS,
  RECHECK_MS,
  RELAY_POLL_MS,
  STOP_GRACE_MS,
  UPKEEP_MS,
} from './limits.js';

const echo = defineJob({ name: 'test.echo', payload: noteSchema, retry: { attempts: 3, backoffSeconds: 0.02 } });
const narrow = defineJob({ name: 'test.narrow', payload: noteSchema });
const hourly = defineJob({
  name: 'test.hourly',
  payload: noteSchema,
  schedule: { everyMinutes: 60, payload: { note: 'on time' } },
});

interface Row {
  readonly state: string;
  readonly attempts: number;
  readonly last_error: string | null;
}

function contract(openJobDatabase: () => Promise<JobDatabase>): void {
  let on: JobDatabase;
  let site: JobSite;
  const ran: string[] = [];
  const note: Behaviour = (payload) => {
    ran.push(payload.note);
  };

  const start = (behaviour: Behaviour = note, options: Partial<ProcessOptions> = {}): Promise<TestingModule> => {
    const jobs = [echo, narrow];
    return site.start({ jobs, handlers: jobs.map((job) => handlerOf(job, behaviour)), ...options });
  };
  const enqueue = (by: TestingModule, text: string, options?: EnqueueOptions, job: NoteJob = echo): Promise<void> =>
    site.database.transaction((transaction) => by.get(Outbox).enqueue(transaction, job, { note: text }, options));
  const rows = async (): Promise<Row[]> =>
    site.database.query('select state, attempts, last_error from outbox order by created_at, id');
  const allDone = async (): Promise<boolean> => (await rows()).length === 0;
  const schedulesOf = (of: TestingModule): Queue => of.get<Queue>(getQueueToken(SCHEDULES), { strict: false });
  const obliterate = (of: TestingModule): Promise<unknown> =>
    Promise.all(
      of
        .get(JobRegistry)
        .queues()
        .map((queue) => queue.obliterate({ force: true })),
    );

  beforeAll(async () => {
    on = await openJobDatabase();
  });
  beforeEach(() => {
    site = new JobSite(on);
  });
  afterEach(async () => {
    await site.stopAll();
    ran.length = 0;
  });
  afterAll(() => on.close());

  describe('the outbox', () => {
    it('runs a job once, right after the commit of its transaction, and deletes its row', async () => {
      const process = await start();
      await enqueue(process, 'committed');
      // The clock does not advance, so only the commit can trigger the relay.
      await until(allDone);
      expect(ran).toEqual(['committed']);
    });

    it('never runs a job whose transaction is rolled back', async () => {
      const process = await start();
      const failing = site.database.transaction(async (transaction) => {
        await process.get(Outbox).enqueue(transaction, echo, { note: 'never' });
        throw new Error('refused');
      });
      await expect(failing).rejects.toThrow('refused');
      await enqueue(process, 'after it');
      await until(allDone);
      expect(ran).toEqual(['after it']);
    });

    it('refuses a payload that does not match the schema', async () => {
      const process = await start();
      const wrong = { note: 7 } as unknown as Note;
      const writing = site.database.transaction((transaction) => process.get(Outbox).enqueue(transaction, echo, wrong));
      await expect(writing).rejects.toThrow(z.ZodError);
      expect(await rows()).toEqual([]);
    });

    it('does not run a delayed job before its time', async () => {
      const process = await start();
      await enqueue(process, 'later', { delaySeconds: 60 });
      await enqueue(process, 'now');
      await until(async () => (await rows()).length === 1);
      expect(ran).toEqual(['now']);
      await site.clock.advance(60_000);
      await until(allDone);
      expect(ran).toEqual(['now', 'later']);
    });

    it('runs waiting jobs with the same key once, with the last payload', async () => {
      const process = await start();
      const options = { dedupeKey: 'k', delaySeconds: 5 };
      for (const text of ['first', 'second', 'third']) await enqueue(process, text, options);
      await enqueue(process, 'other key', { dedupeKey: 'l', delaySeconds: 5 });
      await site.clock.advance(6_000);
      await until(allDone);
      expect([...ran].sort()).toEqual(['other key', 'third']);
    });

    it('runs a job again if its key is enqueued while it runs', async () => {
      const { passed, open } = gate();
      const process = await start(async ({ note: text }) => {
        ran.push(text);
        if (text === 'running') await passed;
      });
      await enqueue(process, 'running', { dedupeKey: 'k' });
      await until(() => ran.length === 1);
      await enqueue(process, 'news', { dedupeKey: 'k' });
      open();
      await until(allDone);
      expect(ran).toEqual(['running', 'news']);
    });

    it('enqueues and relays, but runs no job, in the role api', async () => {
      const api = await start(note, { role: 'api' });
      await enqueue(api, 'for a worker');
      await until(async () => (await rows())[0]?.state === 'dispatched');
      expect(ran).toEqual([]);
      await start();
      await until(allDone);
      expect(ran).toEqual(['for a worker']);
    });
  });

  describe('the relay', () => {
    it('dispatches rows that a process had claimed before it died', async () => {
      const api = await start(note, { role: 'api' });
      await api.get(OutboxRelay).stop();
      await enqueue(api, 'orphan');
      expect(await api.get(OutboxStore).claim([echo.name])).toHaveLength(1);
      await site.stop(api);
      const heir = await start();
      expect(await heir.get(OutboxRelay).relayDue()).toBe(0);
      await site.clock.advance(CLAIM_LEASE_MS + RELAY_POLL_MS);
      await until(allDone);
      expect(ran).toEqual(['orphan']);
    });

    it('runs a row once if it was dispatched twice because its relay died', async () => {
      const api = await start(note, { role: 'api' });
      await api.get(OutboxRelay).stop();
      await enqueue(api, 'twice');
      await api.get(OutboxRelay).add(await api.get(OutboxStore).claim([echo.name]));
      await site.clock.advance(CLAIM_LEASE_MS + 1);
      expect(await api.get(OutboxRelay).relayDue()).toBe(1);
      await start();
      await until(allDone);
      expect(ran).toEqual(['twice']);
    });

    it('dispatches each row once when two relays work concurrently', async () => {
      const [left, right] = [await start(note, { role: 'api' }), await start(note, { role: 'api' })];
      for (const relay of [left, right]) await relay.get(OutboxRelay).stop();
      const texts = Array.from({ length: 250 }, (_, index) => `job ${String(index)}`);
      await site.database.transaction(async (transaction) => {
        for (const text of texts) await left.get(Outbox).enqueue(transaction, echo, { note: text });
      });
      const handed = await Promise.all([left, right].map((process) => process.get(OutboxRelay).relayDue()));
      expect(handed[0]! + handed[1]!).toBe(texts.length);
      await start();
      await until(allDone);
      expect([...ran].sort()).toEqual([...texts].sort());
    });

    it('dispatches again the rows that the queue has lost', async () => {
      const api = await start(note, { role: 'api' });
      await enqueue(api, 'lost');
      await until(async () => (await rows())[0]?.state === 'dispatched');
      await obliterate(api);
      await start();
      await site.clock.advance(RECHECK_MS + RELAY_POLL_MS);
      await until(allDone);
      expect(ran).toEqual(['lost']);
    });

    it('keeps jobs in the outbox while Redis is unreachable, without failing requests, starts or stops', async () => {
      const cutOff = await start(note, { redisUrl: 'redis://127.0.0.1:1' });
      await enqueue(cutOff, 'patient');
      await site.clock.advance(UPKEEP_MS);
      expect(await rows()).toMatchObject([{ state: 'pending', attempts: 0 }]);
      await site.stop(cutOff);
      await start();
      await until(allDone);
      expect(ran).toEqual(['patient']);
    });

    it('does not run a job twice because of a recheck', async () => {
      const { passed, open } = gate();
      const process = await start(async ({ note: text }) => {
        ran.push(text);
        await passed;
      });
      await enqueue(process, 'long');
      await until(() => ran.length === 1);
      await site.clock.advance(3 * RECHECK_MS);
      await enqueue(process, 'short', {}, narrow);
      await until(() => ran.length === 2);
      open();
      await until(allDone);
      expect(ran).toEqual(['long', 'short']);
    });
  });

  describe('a job', () => {
    it('is retried after a failure', async () => {
      const attempts: number[] = [];
      const process = await start((_, { attempt }) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error('not yet');
      });
      await enqueue(process, 'stubborn');
      await until(allDone);
      expect(attempts).toEqual([1, 2, 3]);
    });

    it('is dead after its last attempt, keeps its last error, and is deleted later', async () => {
      const process = await start((_, { attempt }) => {
        ran.push(String(attempt));
        throw new Error(`broken ${String(attempt)}`);
      });
      await enqueue(process, 'hopeless');
      await until(async () => (await rows())[0]?.state === 'dead');
      const [dead] = await rows();
      expect(dead).toMatchObject({ attempts: 3, last_error: expect.stringContaining('broken 3') });
      expect(ran).toEqual(['1', '2', '3']);
      await site.clock.advance(RECHECK_MS + RELAY_POLL_MS);
      expect(await process.get(OutboxRelay).relayDue()).toBe(0);
      await site.clock.advance(UPKEEP_MS);
      expect(await rows()).toHaveLength(1);
      await site.stop(process);
      await site.clock.advance(DEAD_KEPT_MS);
      await start();
      await until(allDone);
    });

    it('is dead if each attempt ended with the death of its process', async () => {
      const api = await start(note, { role: 'api' });
      await api.get(OutboxRelay).stop();
      await enqueue(api, 'poison');
      const [row] = await api.get(OutboxStore).claim([echo.name]);
      for (let attempt = 0; attempt < 3; attempt += 1) await api.get(OutboxStore).start(row?.id ?? '');
      await start();
      await site.clock.advance(RECHECK_MS + RELAY_POLL_MS);
      await until(async () => (await rows())[0]?.state === 'dead');
      expect((await rows())[0]?.last_error).toContain('Each of 3 attempts ended with the process');
      expect(ran).toEqual([]);
    });

    it('runs at most as often concurrently as its processor allows', async () => {
      let active = 0;
      let most = 0;
      const process = await start(async () => {
        most = Math.max(most, ++active);
        await new Promise((resolve) => setImmediate(resolve));
        active -= 1;
      });
      for (let index = 0; index < 10; index += 1) await enqueue(process, String(index), {}, narrow);
      await until(allDone);
      expect(most).toBe(1);
    });
  });

  describe('a process whose build may not use the database any more', () => {
    const failureOf = (process: TestingModule): Promise<string | undefined> =>
      Promise.race([process.get(ShutdownState).failure, Promise.resolve(undefined)]);
    const lastReport = async (): Promise<string> =>
      JSON.stringify(await site.database.query('select max(seen_at) as at from job_workers'));
    /** Again and again: a process skips an upkeep while it is at the one before. */
    const untilUpkeep = (condition: () => Promise<boolean>): Promise<void> =>
      until(async () => (await site.clock.advance(UPKEEP_MS), condition()));

    it('fails with the reason, unless no other process can use the database', async () => {
      const process = await start();
      await until(async () => (await process.get(WorkerPresence).count()) === 1);
      const reported = await lastReport();
      await site.database.query(
        `insert into schema_migrations (name, release, oldest_build) values ('2999010100_later', '9.0.0', '2998010100_before')`,
      );
      try {
        if (on.open.native.kind === 'embedded') {
          await untilUpkeep(async () => (await lastReport()) !== reported);
          expect(await failureOf(process)).toBeUndefined();
        } else {
          await untilUpkeep(async () => (await failureOf(process)) !== undefined);
          expect(await failureOf(process)).toMatch(/^The database is at 2999010100_later \(release 9\.0\.0\)/);
        }
      } finally {
        await site.database.query(`delete from schema_migrations where name = '2999010100_later'`);
      }
    });
  });

  describe('a stopping process', () => {
    it('waits for its active job', async () => {
      const { passed, open } = gate();
      const process = await start(async ({ note: text }) => {
        await passed;
        ran.push(text);
      });
      await enqueue(process, 'finished');
      await until(async () => (await rows())[0]?.attempts === 1);
      const stopped = site.stop(process);
      open();
      await stopped;
      expect(ran).toEqual(['finished']);
      expect(await rows()).toEqual([]);
    });

    it('aborts a job that takes too long, which another process repeats without counting the attempt', async () => {
      const slow = await start(untilAborted);
      await enqueue(slow, 'moved');
      await until(async () => (await rows())[0]?.attempts === 1);
      const timers = site.clock.pending();
      const stopped = site.stop(slow);
      await until(() => site.clock.nextIn() === STOP_GRACE_MS && site.clock.pending() < timers);
      await site.clock.advance(STOP_GRACE_MS);
      await stopped;
      expect(await rows()).toMatchObject([{ state: 'dispatched', attempts: 0, last_error: null }]);
      await start((payload, { attempt }) => {
        ran.push(`${payload.note} ${String(attempt)}`);
      });
      await until(allDone);
      expect(ran).toEqual(['moved 1']);
    });

    it('waits for its jobs first, and aborts them on request', async () => {
      const process = await start(untilAborted);
      await enqueue(process, 'draining');
      await until(async () => (await rows())[0]?.attempts === 1);
      const [jobs] = process.get(ShutdownState, { strict: false }).participants;
      const idle = jobs!.idle();
      await jobs!.abort();
      await idle;
      expect(await rows()).toMatchObject([{ state: 'dispatched', attempts: 0 }]);
    });

    it('does not wait forever for a job that ignores its signal', async () => {
      const { passed, open } = gate();
      const deaf = await start(() => passed);
      await enqueue(deaf, 'deaf');
      await until(async () => (await rows())[0]?.attempts === 1);
      let stopped = false;
      const stopping = site.stop(deaf).then(() => (stopped = true));
      await until(async () => {
        await site.clock.advance(ABORT_GRACE_MS);
        return stopped;
      });
      await stopping;
      open();
    });
  });

  describe('a schedule', () => {
    const scheduled = (): ProcessOptions => ({ jobs: [hourly], handlers: [handlerOf(hourly, note)] });

    it('is installed once by any number of processes and runs its job', async () => {
      const left = await site.start(scheduled());
      await until(async () => ran.length > 0 && (await allDone()));
      // Only now, because the clock is far behind the queue's, so that a new schedule runs immediately.
      const right = await site.start(scheduled());
      await site.clock.advance(UPKEEP_MS);
      const schedulers = await schedulesOf(left).getJobSchedulers();
      expect(schedulers).toMatchObject([{ key: hourly.name, every: 3_600_000 }]);
      expect(await schedulesOf(right).getDelayedCount()).toBe(1);
      expect(ran).toEqual(['on time']);
    });

    it('is installed again after the queue has lost it, and removed with its definition', async () => {
      const process = await site.start(scheduled());
      await until(async () => ran.length > 0 && (await allDone()));
      await obliterate(process);
      const queue = schedulesOf(process);
      await until(async () => {
        await site.clock.advance(UPKEEP_MS);
        return (await queue.getJobSchedulersCount()) === 1;
      });
      // Its last upkeep could install the schedule after the successor has removed it.
      await site.stop(process);
      const successor = await start();
      await until(async () => (await schedulesOf(successor).getJobSchedulersCount()) === 0);
    });
  });
}

describe('jobs on the embedded database', () => {
  contract(() => embeddedJobDatabase([jobsSchema]));
});

const { DATABASE_URL: databaseUrl = '', REDIS_URL: redisUrl } = process.env;
clusterOnly('jobs on PostgreSQL and Redis', () => {
  contract(() => serverJobDatabase([jobsSchema], databaseUrl, redisUrl));
});
clusterOnly('jobs on PostgreSQL alone', () => {
  contract(() => serverJobDatabase([jobsSchema], databaseUrl, undefined));
});
