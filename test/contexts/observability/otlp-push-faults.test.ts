import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { PublishTraces } from '../../../src/observability/jobs/publish-traces.job.js';
import { pushTraces } from '../../../src/observability/jobs/push-traces.job.js';
import { PUBLISH_AFTER_MS } from '../../../src/observability/limits.js';
import { Outbox } from '../../../src/platform/jobs/index.js';
import { until } from '../../support/harness.js';
import { acceptWithout, type BackendAnswer } from '../../support/otlp-receiver.js';
import { Talk } from '../../support/talk.js';
import { SECRET, usePushingService } from './pushing-service.js';

const pushing = usePushingService();

interface Dead {
  readonly id: string;
  readonly attempts: number;
  readonly lastError: string;
}

/** A response that quotes the request, of which nothing may be stored. */
function echoing(status: number): BackendAnswer {
  return (response, { headers }) => response.writeHead(status).end(JSON.stringify(headers));
}

async function dead(): Promise<Dead | undefined> {
  return (await pushing.service.cli<{ jobs: Dead[] }>('jobs', 'list', '--failed', '--name', pushTraces.name)).jobs[0];
}

/** Resolves when the next connection of this process is refused. */
function refusal(): Promise<void> {
  return new Promise((resolve) => {
    const watch = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      socket.once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code !== 'ECONNREFUSED') return;
        unsubscribe('net.client.socket', watch);
        resolve();
      });
    };
    subscribe('net.client.socket', watch);
  });
}

it('a trace with unreadable JSON is logged and not pushed, and the others are', async () => {
  const talk = await Talk.start(pushing.service);
  const ids: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) ids.push((await pushing.traced(talk)).runId);
  const [, unreadable = '', , unreadableToo = ''] = ids;
  await pushing.service.database.query(`update traces set steps = '{}' where id = any($1::uuid[])`, [
    [unreadable, unreadableToo],
  ]);
  await pushing.push(ids);
  await pushing.pushed();
  expect(ids.filter((id) => pushing.backend.traceSpans(id).length > 0)).toEqual(
    ids.filter((id) => id !== unreadable && id !== unreadableToo),
  );
  for (const id of [unreadable, unreadableToo]) {
    expect(pushing.logLines.filter((line) => line.includes(`"traceId":"${id}"`))).toEqual([
      expect.stringContaining('"level":"error"'),
    ]);
  }
  expect(await dead()).toBeUndefined();
});

it('a push stops when an organization switches to HIPAA during the first request', async () => {
  const talk = await Talk.start(pushing.service);
  const [first, second] = [await pushing.traced(talk), await pushing.traced(talk)].map(({ runId }) => runId);
  // Each trace is loaded and sent by itself.
  await pushing.service.database.query('update traces set stored_bytes = 4000000 where organization_id = $1', [
    talk.organization.id,
  ]);
  pushing.backend.next(async (response) => {
    await pushing.service.cli('org', 'set', talk.organization.id, '--features', 'hipaa');
    response.writeHead(200).end();
  });
  await pushing.push([first ?? '', second ?? '']);
  await pushing.pushed();
  expect(pushing.backend.received).toHaveLength(1);
});

describe('a backend that', () => {
  it.each<[string, BackendAnswer, number]>([
    ['is too busy for a moment gets the request again, and has each span once', echoing(503), 2],
    ['accepts a part of a request does not get it again', acceptWithout(1), 1],
    [
      'answers with text that is not protobuf has the spans',
      (response) => response.writeHead(200).end('\u0003garbage'),
      1,
    ],
  ])('%s', async (_what, answer, requests) => {
    const { runId } = await pushing.traced();
    pushing.backend.next(answer);
    await pushing.push([runId]);
    await pushing.pushed();
    expect(pushing.backend.received).toHaveLength(requests);
    const ids = pushing.backend.traceSpans(runId).map(({ spanId }) => spanId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(await dead()).toBeUndefined();
  });

  it('refuses a request fails the push at once; an operator can repeat it', async () => {
    const { runId } = await pushing.traced();
    pushing.backend.next(echoing(400));
    await pushing.push([runId]);
    await until(async () => (await dead()) !== undefined, 'the push job has failed finally');
    const job = await dead();
    expect(job).toMatchObject({
      attempts: 1,
      lastError: expect.stringContaining('The OpenTelemetry backend answered 400'),
    });
    expect(job?.lastError).not.toContain(SECRET);
    await pushing.service.cli('jobs', 'retry', job?.id ?? '');
    await pushing.pushed();
    expect(pushing.backend.traceSpans(runId)).toHaveLength(2);
  });

  it('does not answer delays no run, and gets the spans again', async () => {
    const { talk, runId } = await pushing.traced();
    const hanging = Promise.withResolvers<() => void>();
    pushing.backend.next((response) => hanging.resolve(() => response.destroy()));
    await pushing.push([runId]);
    const destroy = await hanging.promise;
    expect((await pushing.traced(talk)).runId).not.toBe(runId);
    expect(pushing.backend.accepted).toEqual([]);
    destroy();
    await pushing.pushed();
    expect(pushing.backend.traceSpans(runId)).toHaveLength(2);
  });

  it('cannot be reached gets every span when it can be reached', async () => {
    const one = await pushing.traced();
    const other = await pushing.traced();
    await pushing.backend.close();
    const refused = refusal();
    await pushing.push([one.runId, other.runId]);
    await refused;
    await pushing.backend.startAgain();
    await pushing.pushed();
    for (const { runId } of [one, other])
      expect(new Set(pushing.backend.traceSpans(runId).map(({ spanId }) => spanId)).size).toBe(2);
    expect(await dead()).toBeUndefined();
  });
});

describe('publishing', () => {
  const publish = (): Promise<number> => pushing.service.app.get(PublishTraces).execute(new AbortController().signal);

  async function exported({ key, agentId }: Talk): Promise<string[]> {
    const { body } = await pushing.service.http<{ traces: { id: string }[] }>(
      'GET',
      `/v1/agents/${agentId}/traces/export`,
      {
        key,
      },
    );
    return body.traces.map(({ id }) => id);
  }

  it('publishes and enqueues pushes in one transaction, without organizations under HIPAA', async () => {
    const open = await pushing.traced();
    const closed = await pushing.traced(await Talk.start(pushing.service, {}, '--features', 'hipaa'));
    pushing.clock.moveOn(PUBLISH_AFTER_MS + 1);
    const outbox = pushing.service.app.get(Outbox);
    const enqueue = outbox.enqueue.bind(outbox);
    const enqueued: unknown[] = [];
    const spy = jest.spyOn(outbox, 'enqueue').mockImplementation(async (transaction, job, payload, options) => {
      await enqueue(transaction, job, payload, options);
      if (job.name === pushTraces.name) throw new Error('The transaction fails after the job is in it');
    });
    await expect(publish()).rejects.toThrow('The transaction fails');
    expect(await exported(open.talk)).toEqual([]);
    expect(await pushing.service.database.query('select id from outbox where name = $1', [pushTraces.name])).toEqual(
      [],
    );

    spy.mockImplementation((transaction, job, payload, options) => {
      if (job.name === pushTraces.name) enqueued.push(payload);
      return enqueue(transaction, job, payload, options);
    });
    await publish();
    spy.mockRestore();
    expect(await exported(open.talk)).toEqual([open.runId]);
    expect(JSON.stringify(enqueued)).toContain(open.runId);
    expect(JSON.stringify(enqueued)).not.toContain(closed.runId);
    await pushing.pushed();
    expect(pushing.backend.traceSpans(open.runId)).toHaveLength(2);
    expect(pushing.backend.traceSpans(closed.runId)).toEqual([]);
  });
});

it('no log line has a secret of the headers', () => {
  expect(pushing.logLines.some((line) => line.includes('Run ended'))).toBe(true);
  expect(pushing.logLines.filter((line) => line.includes(SECRET))).toEqual([]);
});
