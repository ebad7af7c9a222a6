import { afterEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { Outbox } from '../../../src/platform/jobs/index.js';
import { PublishTracesRepository } from '../../../src/observability/persistence/publish-traces.repository.js';
import { publishTraces as publishJob } from '../../../src/observability/jobs/publish-traces.job.js';
import { type Answer, type TestService, until, useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';
import { makeTraces, publishTraces } from '../../support/traces.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

interface Exported {
  readonly traces: readonly { readonly id: string }[];
  readonly meta: { readonly cursor: string | null };
}

const clock = new ShiftedClock();
const service = useService({ clock });
let replica: TestService | undefined;
afterEach(async () => {
  await replica?.close();
  replica = undefined;
});

function exportOf(
  talk: Talk,
  query: Readonly<Record<string, string>> = {},
  at: TestService = service,
): Promise<Answer<Exported>> {
  const path = `/v1/agents/${talk.agentId}/traces/export?${new URLSearchParams(query).toString()}`;
  return at.http<Exported>('GET', path, { key: talk.key });
}

/** All pages of an export, from the processes in turn; calls `between` after each page. */
async function walk(
  talk: Talk,
  processes: readonly TestService[] = [service],
  between = (_page: number): Promise<void> => Promise.resolve(),
): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const at = processes[pages.length % processes.length] ?? service;
    const { status, body }: Answer<Exported> = await exportOf(talk, cursor === null ? {} : { cursor }, at);
    expect(status).toBe(200);
    pages.push(body.traces.map(({ id }) => id));
    cursor = body.meta.cursor;
    // The limit is twenty pages a minute.
    clock.moveOn(4 * SECOND_MS);
    await between(pages.length);
  } while (cursor !== null);
  return pages;
}

async function ran(talk: Talk, text = 'Hi', reply = 'Hello'): Promise<{ id: string; messageId: string }> {
  service.models.next(says(reply));
  const { body } = await talk.run(text);
  return { id: body.run.id, messageId: body.message?.id ?? '' };
}

async function published(talk: Talk, text?: string, reply?: string): Promise<{ id: string; messageId: string }> {
  const run = await ran(talk, text, reply);
  clock.moveOn(2 * MINUTE_MS);
  await publishTraces(service);
  return run;
}

/** Makes all batches but the first few fail at their end. For the database this is the same as a killed process. */
function killAfter(batches: number): void {
  let left = batches;
  for (const { app } of [service, replica ?? service]) {
    const repository = app.get(PublishTracesRepository);
    const publish = (...parameters: Parameters<PublishTracesRepository['publish']>) =>
      PublishTracesRepository.prototype.publish.apply(repository, parameters);
    repository.publish = async (...parameters) => {
      const published = await publish(...parameters);
      left -= 1;
      if (left < 0) throw new Error('killed');
      return published;
    };
  }
}

describe('a trace becomes exportable', () => {
  it('two minutes after its run has ended, and not before', async () => {
    const talk = await Talk.start(service);
    const { id } = await ran(talk);
    clock.moveOn(2 * MINUTE_MS - 10 * SECOND_MS);
    await publishTraces(service);
    expect((await exportOf(talk)).body.traces).toEqual([]);
    clock.moveOn(10 * SECOND_MS);
    await publishTraces(service);
    expect((await exportOf(talk)).body.traces.map((trace) => trace.id)).toEqual([id]);
  });

  it('even if its run was found orphaned after months', async () => {
    const [talk, other] = [await Talk.start(service), await Talk.start(service)];
    const { id: orphan } = await ran(other);
    await service.database.query(
      'update traces set latency_ms = 60 * 86400000::bigint, time_to_first_token_ms = 40 * 86400000::bigint where id = $1',
      [orphan],
    );
    const { id } = await published(talk);
    expect((await exportOf(talk)).body.traces.map((trace) => trace.id)).toEqual([id]);
    expect((await exportOf(other)).body.traces.map((trace) => trace.id)).toEqual([orphan]);
  });

  it('by a job', async () => {
    const talk = await Talk.start(service);
    await ran(talk);
    clock.moveOn(2 * MINUTE_MS);
    await service.database.transaction((transaction) => service.app.get(Outbox).enqueue(transaction, publishJob, {}));
    await until(async () => {
      clock.moveOn(10 * SECOND_MS);
      return (await exportOf(talk)).body.traces.length === 1;
    }, 'the job has published the trace');
  });

  it('with all fields of an export', async () => {
    const talk = await Talk.start(service);
    const { id, messageId } = await published(talk, 'What is it?', 'Rain.');
    await service.http('PUT', `${talk.path}/messages/${messageId}/reaction`, {
      key: talk.key,
      body: { reaction: 'thumbs_up', comment: 'Yes' },
    });
    const detail = await service.http('GET', `/v1/agents/${talk.agentId}/traces/${id}`, { key: talk.key });
    expect(detail.body).toMatchObject({
      reactions: { thumbs_up: { comment: 'Yes' } },
      sessionStartHook: null,
      threadId: talk.threadId,
    });
    const { reactions: _reactions, sessionStartHook: _hook, threadId: _thread, ...whole } = detail.body;
    expect((await exportOf(talk)).body).toEqual({ traces: [whole], meta: { cursor: null } });
  });
});

describe('an export', () => {
  it('has each of 10,000 traces once: on two replicas, during constant writes, with interrupted publishers', async () => {
    const talk = await Talk.start(service);
    const on = { organizationId: talk.organization.id, agentId: talk.agentId, threadId: talk.threadId };
    // Three runs start at each moment.
    const newest = new Date(clock.now().getTime() - 5 * MINUTE_MS);
    const made = (
      await Promise.all(
        [0, 1, 2].map((third) =>
          makeTraces(service, { ...on, count: third === 0 ? 3_334 : 3_333, newest, everyMs: 2_000 }),
        ),
      )
    ).flat();
    replica = await service.replica();
    const both = [service, replica];
    killAfter(3);
    await Promise.allSettled([...both, ...both].map((at) => publishTraces(at)));
    killAfter(Infinity);
    await Promise.all(both.map((at) => publishTraces(at)));

    const unnamed: string[] = [];
    const pages = await walk(talk, both, async (page) => {
      if (page % 10 !== 0) return;
      unnamed.push((await published(talk)).id);
      // Some runs started before the position of the export, and end only now.
      unnamed.push(...(await makeTraces(service, { ...on, count: 5, newest, everyMs: 60_000 })));
    });

    const seen = pages.flat().filter((id) => !unnamed.includes(id));
    expect(new Set(pages.flat()).size).toBe(pages.flat().length);
    expect(seen).toHaveLength(10_000);
    expect(new Set(seen)).toEqual(new Set(made));
  });

  it('has pages of limited size, with at least one trace', async () => {
    const talk = await Talk.start(service);
    for (const letter of ['a', 'b']) await ran(talk, letter.repeat(200_000), '€'.repeat(130_000));
    for (const text of ['small', 'smaller']) await ran(talk, text);
    clock.moveOn(2 * MINUTE_MS);
    await publishTraces(service);
    const pages = await walk(talk);
    expect(pages.map((page) => page.length)).toEqual([3, 1]);
  });

  it('limits its pages by the whole size of the traces', async () => {
    const talk = await Talk.start(service);
    const userContext = Object.fromEntries(
      Array.from({ length: 30 }, (_, nth) => [`k${nth}`, '\u{1F600}'.repeat(9_000)]),
    );
    for (const text of ['One', 'Two']) {
      service.models.next(says('Hello'));
      await talk.run(text, { config: { userContext } });
    }
    clock.moveOn(2 * MINUTE_MS);
    await publishTraces(service);
    expect((await walk(talk)).map((page) => page.length)).toEqual([1, 1]);
  });

  it('keeps the range of its first page, without the end', async () => {
    const talk = await Talk.start(service);
    const on = { organizationId: talk.organization.id, agentId: talk.agentId, threadId: talk.threadId };
    const newest = new Date(clock.now().getTime() - 10 * MINUTE_MS);
    const ids = await makeTraces(service, { ...on, count: 300, newest, everyMs: SECOND_MS });
    await publishTraces(service);
    const at = (nth: number): string => new Date(newest.getTime() - nth * SECOND_MS).toISOString();
    const first = await exportOf(talk, { fromTimestamp: at(250), toTimestamp: at(10) });
    expect(first.body.traces.map(({ id }) => id)).toEqual(ids.slice(11, 111));
    const second = await exportOf(talk, { cursor: first.body.meta.cursor ?? '', toTimestamp: at(240) });
    expect(second.body.traces.map(({ id }) => id)).toEqual(ids.slice(111, 211));
    const third = await exportOf(talk, { cursor: second.body.meta.cursor ?? '' });
    expect(third.body).toEqual({
      traces: ids.slice(211, 251).map((id) => expect.objectContaining({ id })),
      meta: { cursor: null },
    });
  });

  it('is empty for a range without traces, however far away', async () => {
    const talk = await Talk.start(service);
    await published(talk);
    const ranges: Record<string, string>[] = [
      { toTimestamp: '0000-01-01T00:00:00Z' },
      { fromTimestamp: '9999-12-31T23:59:59Z' },
      { fromTimestamp: '2020-01-01T00:00:00Z', toTimestamp: '2020-02-01T00:00:00Z' },
      { fromTimestamp: '2026-02-01T00:00:00Z', toTimestamp: '2026-02-01T00:00:00Z' },
    ];
    for (const query of ranges) {
      expect(await exportOf(talk, query)).toMatchObject({ status: 200, body: { traces: [], meta: { cursor: null } } });
    }
  });

  it('continues only with a cursor that it has issued', async () => {
    const [talk, foreign] = [await Talk.start(service), await Talk.start(service)];
    const sibling = await talk.withAnotherAgent();
    for (const { organization, agentId, threadId } of [talk, foreign, sibling]) {
      const newest = new Date(clock.now().getTime() - 5 * MINUTE_MS);
      await makeTraces(service, { organizationId: organization.id, agentId, threadId, count: 101, newest, everyMs: 1 });
    }
    await publishTraces(service);
    const cursor = (await exportOf(talk)).body.meta.cursor ?? '';
    const cursors = await Promise.all(
      [foreign, sibling].map(async (other) => (await exportOf(other)).body.meta.cursor ?? ''),
    );
    for (const given of [...cursors, `${cursor}x`, `${cursor}.x`, `${cursor}=`, `${cursor}!`, 'made-up', newId(), '']) {
      expect(await exportOf(talk, { cursor: given })).toMatchObject({
        status: 400,
        body: { code: 'FST_ERR_VALIDATION' },
      });
    }
    expect((await exportOf(talk, { cursor })).body.traces).toHaveLength(1);
  });

  it('leaves out traces that are deleted during the export', async () => {
    const talk = await Talk.start(service);
    const other = await talk.another();
    await published(other);
    const { id } = await published(talk);
    await service.http('DELETE', other.path, { key: talk.key });
    expect((await exportOf(talk)).body.traces.map((trace) => trace.id)).toEqual([id]);
  });
});

describe('exports', () => {
  it.each([
    ['fromTimestamp=2026-01-01', 'fromTimestamp'],
    ['toTimestamp=now', 'toTimestamp'],
    ['page=1', 'page'],
    ['limit=5', 'limit'],
    ['fromTimestamp=2026-03-02T00:00:00Z&toTimestamp=2026-03-01T00:00:00Z', 'fromTimestamp'],
    ['cursor=made-up', 'meta.cursor'],
  ])('refuse ?%s and name the field', async (query, field) => {
    const talk = await Talk.start(service);
    const answer = await service.http('GET', `/v1/agents/${talk.agentId}/traces/export?${query}`, { key: talk.key });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(field) },
    });
  });

  it('are limited to twenty requests a minute and organization, separately from the list', async () => {
    const talk = await Talk.start(service);
    const answers: Answer<Exported>[] = [];
    for (let request = 0; request < 21; request += 1) answers.push(await exportOf(talk));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    expect(answers.at(-1)?.body).toEqual({ statusCode: 429, error: 'too_many_requests', message: expect.any(String) });
    expect(answers.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(answers.map(() => '20'));
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await service.http('GET', `/v1/agents/${talk.agentId}/traces`, { key: talk.key })).status).toBe(200);
    expect((await exportOf(await Talk.start(service))).status).toBe(200);
  });

  it('are refused to HIPAA organizations, and never have traces from a time under HIPAA', async () => {
    const talk = await Talk.start(service, {}, '--features', 'hipaa');
    await published(talk);
    expect(await exportOf(talk)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_trace_access_for_hipaa_agent' },
    });
    await ran(talk, 'Switched off before this is published');
    await service.cli('org', 'set', talk.organization.id, '--features', '');
    const { id } = await published(talk);
    expect((await exportOf(talk)).body.traces.map((trace) => trace.id)).toEqual([id]);
  });
});
