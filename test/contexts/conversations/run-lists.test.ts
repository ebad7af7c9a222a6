import { describe, expect, it } from '@jest/globals';
import { approve, askForPayments, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { calls, HeldReply, refuses, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { type InterruptView, type RunView, Talk } from '../../support/talk.js';

interface ListedRun extends RunView {
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly createdAt: string;
  readonly interrupts: readonly InterruptView[];
}

interface Page {
  readonly runs: readonly ListedRun[];
  readonly nextCursor: string | null;
}

const DAY_MS = 24 * 3_600_000;

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

async function list(key: string, path: string): Promise<Page> {
  const { status, body, text } = await service.http<Page>('GET', path, { key });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return body;
}

const idsOf = ({ runs }: Page): string[] => runs.map(({ id }) => id);

/** The ids of all runs, read page by page. */
async function walk(key: string, path: string, between?: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await list(key, cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`);
    seen.push(...idsOf(page));
    cursor = page.nextCursor;
    await between?.();
  } while (cursor !== null);
  return seen;
}

/** A run that completes. */
async function completed(talk: Talk): Promise<string> {
  clock.jump(1_000);
  service.models.next(says('Reply.'));
  return (await talk.run('Hi')).body.run.id;
}

async function failed(talk: Talk): Promise<string> {
  clock.jump(1_000);
  service.models.next(refuses(401));
  await talk.run('Hi');
  return (await talk.storedRun())?.id ?? '';
}

/** A run that asks for approval on a thread of its own. */
async function asking(talk: Talk): Promise<{ talk: Talk; id: string; interrupts: readonly InterruptView[] }> {
  clock.jump(1_000);
  const other = await talk.another();
  during(other.threadId, { tools: [new NotingTool('pay').offered] });
  service.models.next(calls('pay', { sum: 1 }));
  const { body } = await other.run('Pay');
  return { talk: other, id: body.run.id, interrupts: body.interrupts };
}

/** Inserts runs like the service's, each a minute older than the one before, on a thread of the conversation. */
async function insertRuns(talk: Talk, count: number, status = 'completed'): Promise<void> {
  const before = clock.now().getTime() - DAY_MS;
  await service.database.query(
    `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, provider, model,
                       use_own_api_key, created_at, completed_at)
     select gen_random_uuid(), $1, $2, $3, gen_random_uuid(), gen_random_uuid(), $4, 'anthropic', 'm', false, at, at
     from (select $5::timestamptz - n * interval '1 minute' as at from generate_series(1, $6::int) n) times`,
    [talk.organization.id, talk.threadId, talk.agentId, status, new Date(before).toISOString(), count],
  );
}

describe('the lists of runs', () => {
  it('show the newest first, page by page, each run once, even while runs are added', async () => {
    const talk = await Talk.start(service);
    const other = await talk.another();
    const made: string[] = [];
    for (let index = 0; index < 3; index += 1) made.unshift(await completed(talk), await completed(other));
    made.sort().reverse();
    const ofThread = [...made].filter((_id, index) => index % 2 === 1);

    expect(await walk(talk.key, '/v1/runs?limit=2', () => completed(other))).toEqual(made);
    expect(await walk(talk.key, `${talk.path}/runs?limit=2`, () => completed(talk))).toEqual(ofThread);
  });

  it('show each run as it is read, with its thread and agent', async () => {
    const { talk, asked } = await askForPayments(service, [1, 2]);
    const read = (await talk.storedAs(asked.run.id)).body;
    const entry = { ...read.run, interrupts: asked.interrupts };
    expect(entry).toMatchObject({ thread_id: talk.threadId, assistant_id: talk.agentId, status: 'requires_action' });

    for (const path of ['/v1/runs', '/v1/runs?open=true', `${talk.path}/runs`, `${talk.path}/runs?open=true`]) {
      expect(await list(talk.key, path)).toEqual({ runs: [entry], nextCursor: null });
    }
  });

  it('filter by status', async () => {
    const talk = await Talk.start(service);
    const [one, two] = [await completed(talk), await failed(talk)];
    const held = new HeldReply(['A'], ['.']);
    service.models.next(held.script);
    clock.jump(1_000);
    const three = (await talk.run('Hi', { background: true })).body.run.id;
    await held.asked;

    for (const path of ['/v1/runs', `${talk.path}/runs`]) {
      expect(idsOf(await list(talk.key, `${path}?status=completed`))).toEqual([one]);
      expect(idsOf(await list(talk.key, `${path}?status=failed,timed_out`))).toEqual([two]);
      expect(idsOf(await list(talk.key, `${path}?status=running`))).toEqual([three]);
      expect(idsOf(await list(talk.key, `${path}?status=running,failed`))).toEqual([three, two]);
      expect(await list(talk.key, `${path}?status=cancelled`)).toEqual({ runs: [], nextCursor: null });
    }
    held.finish();
  });

  it('filter by the time of creation', async () => {
    const talk = await Talk.start(service);
    const [, two] = [await completed(talk), await completed(talk)];
    const { createdAt } = (await list(talk.key, '/v1/runs')).runs[1] ?? {};
    const three = await completed(talk);

    expect(idsOf(await list(talk.key, `/v1/runs?createdAfter=${createdAt ?? ''}`))).toEqual([three, two]);
  });

  it('show a key with an allowlist only the runs of its agents, and filter by agent', async () => {
    const one = await Talk.start(service);
    const [two, three] = [await one.withAnotherAgent(), await one.withAnotherAgent()];
    const runs = [await completed(one), await completed(two), await completed(three)];
    const [ofOne, ofTwo] = runs;
    const scoped = await one.organization.keyWith(['chat'], [one.agentId, two.agentId]);
    const single = await one.organization.keyWith(['chat'], [one.agentId]);

    expect(idsOf(await list(one.key, '/v1/runs'))).toEqual([...runs].reverse());
    expect(idsOf(await list(scoped.key, '/v1/runs'))).toEqual([ofTwo, ofOne]);
    expect(await walk(scoped.key, '/v1/runs?limit=1')).toEqual([ofTwo, ofOne]);
    expect(idsOf(await list(single.key, '/v1/runs'))).toEqual([ofOne]);
    expect(idsOf(await list(scoped.key, `/v1/runs?assistant_id=${two.agentId}`))).toEqual([ofTwo]);
    expect(idsOf(await list(one.key, `/v1/runs?assistant_id=${two.agentId}`))).toEqual([ofTwo]);
    for (const agentId of [three.agentId, (await Talk.start(service)).agentId]) {
      const refused = await service.http('GET', `/v1/runs?assistant_id=${agentId}`, { key: scoped.key });
      expect([refused.status, refused.body['code']]).toEqual([403, 'forbidden_by_agent_allowlist']);
    }
  });

  it('show nothing of another organization', async () => {
    const [mine, theirs] = [await Talk.start(service), await Talk.start(service)];
    await completed(theirs);

    expect(idsOf(await list(mine.key, '/v1/runs'))).toEqual([]);
    expect(await list(mine.key, `/v1/runs?assistant_id=${theirs.agentId}`)).toEqual({ runs: [], nextCursor: null });
    expect((await service.http('GET', `${theirs.path}/runs`, { key: mine.key })).status).toBe(404);
  });

  it('show nothing of a deleted thread or agent, also before their rows are removed', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const kept = await completed(talk);
    const [hidden, removed] = [await asking(talk), await talk.withAnotherAgent(ASKS_ALWAYS)];
    await asking(removed);
    const query = 'update threads set deleted_at = now() where id = $1 returning id';
    await service.database.query(query, [hidden.talk.threadId]);
    await service.http('DELETE', `/v1/agents/${removed.agentId}`, { key: talk.key });

    expect(idsOf(await list(talk.key, '/v1/runs'))).toEqual([kept]);
    for (const filter of ['open=true', 'status=requires_action', `assistant_id=${removed.agentId}`]) {
      expect(idsOf(await list(talk.key, `/v1/runs?${filter}`))).toEqual([]);
    }
  });

  it('find a run behind thousands that a filter leaves out, in pages of which some are empty', async () => {
    const talk = await Talk.start(service);
    await insertRuns(talk, 10_100);
    await insertRuns(talk, 1, 'running');
    const [oldest] = await service.database.query<{ id: string }>(
      `update runs set status = 'failed', created_at = created_at - interval '90 days'
       where thread_id = $1 and status = 'running' returning id`,
      [talk.threadId],
    );
    for (const path of [
      '/v1/runs?status=running,failed',
      '/v1/runs?status=failed',
      `/v1/runs?status=running,failed&assistant_id=${talk.agentId}`,
      `${talk.path}/runs?status=failed`,
    ]) {
      expect(await walk(talk.key, path)).toEqual([oldest?.id]);
    }
    expect(await walk(talk.key, '/v1/runs?status=running')).toEqual([]);
    expect(await walk(talk.key, '/v1/runs?limit=100')).toHaveLength(10_101);
  });

  it('refuse a cursor that they have not issued, or have issued for another list', async () => {
    const [talk, stranger] = [await Talk.start(service), await Talk.start(service)];
    const other = await talk.another();
    for (const each of [talk, talk, other, other]) await completed(each);
    const { nextCursor: ofAll } = await list(talk.key, '/v1/runs?limit=1');
    const { nextCursor: ofThread } = await list(talk.key, `${talk.path}/runs?limit=1`);

    for (const [key, path, cursor] of [
      [talk.key, '/v1/runs', 'x'],
      [talk.key, '/v1/runs', ofThread],
      [talk.key, `${talk.path}/runs`, ofAll],
      [talk.key, `${other.path}/runs`, ofThread],
      [stranger.key, '/v1/runs', ofAll],
    ] as const) {
      const refused = await service.http('GET', `${path}?cursor=${cursor ?? ''}`, { key });
      expect([refused.status, refused.body['code']]).toEqual([400, 'FST_ERR_VALIDATION']);
    }
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['status=', 'status'],
    ['status=done', 'running, completed, requires_action, failed, cancelled, timed_out'],
    ['status=failed,', 'running, completed, requires_action, failed, cancelled, timed_out'],
    ['open=1', 'open'],
    ['assistant_id=x', 'assistant_id'],
    ['createdAfter=yesterday', 'createdAfter'],
    ['other=1', 'other'],
  ])('refuse ?%s', async (query, named) => {
    const { key } = await service.organization();

    const refused = await service.http('GET', `/v1/runs?${query}`, { key });

    expect([refused.status, refused.body['code']]).toEqual([400, 'FST_ERR_VALIDATION']);
    expect(refused.body['message']).toContain(named);
  });

  it.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59'])(
    'take any time as createdAfter: %s',
    async (createdAfter) => {
      const { key } = await service.organization();
      for (const filter of ['', '&open=true', '&status=running'])
        expect(await list(key, `/v1/runs?createdAfter=${createdAfter}${filter}`)).toEqual({
          runs: [],
          nextCursor: null,
        });
    },
  );

  it('of a thread refuse the filters that only the list of all runs has', async () => {
    const talk = await Talk.start(service);
    for (const query of [`assistant_id=${talk.agentId}`, 'createdAfter=2026-01-01T00:00:00Z']) {
      expect((await service.http('GET', `${talk.path}/runs?${query}`, { key: talk.key })).status).toBe(400);
    }
  });
});

describe('the list of open runs', () => {
  it('has the runs with calls that wait for an answer, with all that answers them', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    await completed(talk);
    const [one, two, three] = [await asking(talk), await asking(talk), await asking(talk)];

    expect(await walk(talk.key, '/v1/runs?open=true&limit=1')).toEqual([three.id, two.id, one.id]);
    expect(await walk(talk.key, '/v1/runs?open=true&status=failed')).toEqual([]);
    const inbox = await list(talk.key, '/v1/runs?open=true&status=requires_action');
    expect(inbox.runs.map(({ interrupts }) => interrupts)).toEqual(
      [three, two, one].map(({ interrupts }) => interrupts),
    );
    service.models.always(says('Done.'));
    for (const { thread_id: threadId, interrupts } of inbox.runs) {
      const body = { resume: interrupts.map(approve), background: true };
      expect((await service.http('POST', `/v1/threads/${threadId}/runs`, { key: talk.key, body })).status).toBe(202);
    }
    expect(await list(talk.key, '/v1/runs?open=true')).toEqual({ runs: [], nextCursor: null });
  });

  it('has runs with calls of tools of the caller too', async () => {
    const talk = await Talk.start(service);
    service.models.next(calls('paint', { colour: 'red' }));
    const { body } = await talk.run('Paint', { tools: [{ name: 'paint' }] });

    const { runs } = await list(talk.key, '/v1/runs?open=true');

    expect(runs).toMatchObject([{ id: body.run.id, interrupts: [{ reason: 'client_tool_call' }] }]);
    expect(runs[0]?.interrupts).toEqual(body.interrupts);
  });

  it('lacks runs that were answered, declined or have expired; these keep their status without interrupts', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const [expired, answered, declined] = [await asking(talk), await asking(talk), await asking(talk)];
    service.models.always(says('Done.'));
    await answered.talk.resume(...answered.interrupts.map(approve));
    await declined.talk.run('No');
    expect(idsOf(await list(talk.key, '/v1/runs?open=true'))).toEqual([expired.id]);
    clock.jump(DAY_MS);

    const open = await asking(talk);

    expect(idsOf(await list(talk.key, '/v1/runs?open=true'))).toEqual([open.id]);
    expect(idsOf(await list(talk.key, `${open.talk.path}/runs?open=true`))).toEqual([open.id]);
    expect(idsOf(await list(talk.key, `${expired.talk.path}/runs?open=true`))).toEqual([]);
    const { runs } = await list(talk.key, '/v1/runs?status=requires_action');
    expect(runs.map(({ id, interrupts }) => [id, interrupts.length])).toEqual([
      [open.id, 1],
      [declined.id, 0],
      [answered.id, 0],
      [expired.id, 0],
    ]);
    clock.jump(3 * DAY_MS);
    expect(await list(talk.key, '/v1/runs?open=true')).toEqual({ runs: [], nextCursor: null });
  });

  it('filters by agent, allowlist and time of creation', async () => {
    const one = await Talk.start(service, ASKS_ALWAYS);
    const two = await one.withAnotherAgent(ASKS_ALWAYS);
    const [ofOne, ofTwo] = [await asking(one), await asking(two)];
    const scoped = await one.organization.keyWith(['chat'], [one.agentId]);
    const { createdAt } = (await list(one.key, `${ofOne.talk.path}/runs`)).runs[0] ?? {};

    expect(idsOf(await list(scoped.key, '/v1/runs?open=true'))).toEqual([ofOne.id]);
    expect(idsOf(await list(one.key, `/v1/runs?open=true&assistant_id=${two.agentId}`))).toEqual([ofTwo.id]);
    expect(idsOf(await list(one.key, `/v1/runs?open=true&createdAfter=${createdAt ?? ''}`))).toEqual([ofTwo.id]);
  });

  it('with `open=false` is the list of all runs', async () => {
    const talk = await Talk.start(service);
    const id = await completed(talk);

    expect(idsOf(await list(talk.key, '/v1/runs?open=false'))).toEqual([id]);
  });
});
