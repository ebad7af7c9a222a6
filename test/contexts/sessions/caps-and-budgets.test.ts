import { beforeAll, describe, expect, it } from '@jest/globals';
import { ThrottlerStorage } from '@nestjs/throttler';
import { RemoveEmptyThreads } from '../../../src/conversations/jobs/remove-empty-threads.job.js';
import { newId } from '../../../src/platform/ids/index.js';
import { PurgeSessions } from '../../../src/sessions/jobs/purge-sessions.job.js';
import { renewBudget, useUpBudget } from '../../support/budgets.js';
import { message, type TestOrganization, type TestService, useService } from '../../support/harness.js';
import { ON_CLUSTER } from '../../support/modes.js';
import { says } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { type Credentials, mintSession, renewSession } from '../../support/web-sessions.js';

const DAY_MS = 86_400_000;
const clock = new ShiftedClock();
const service = useService({ clock });
let organization: TestOrganization;
let agentId: string;

beforeAll(async () => {
  organization = await service.organization();
  agentId = await service.agent(organization.key);
});

const mint = (more: object = {}): Promise<Credentials> =>
  mintSession(service, organization.key, { assistant_id: agentId, ...more });
const run = ({ session, pass }: Credentials, on: TestService = service, body: object = message('Hi')) =>
  on.http('POST', `/v1/threads/${session.thread_id}/runs`, { key: pass.token, body });
const budgetOf = (headers: Headers) => ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));
const storage = (): ThrottlerStorage => service.app.get<ThrottlerStorage>(ThrottlerStorage);

/** Stores a number of earlier turns for the session. */
async function hadTurns({ session }: Credentials, count: number): Promise<void> {
  await service.database.query(
    `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, created_at, completed_at, provider, model,
                       use_own_api_key, session_id)
     select gen_random_uuid(), $1, $2, $3, gen_random_uuid(), gen_random_uuid(), 'completed', now(), now(), 'anthropic', 'any', false, $4
     from generate_series(1, $5)`,
    [organization.id, session.thread_id, agentId, session.id, count],
  );
}

describe('the 100 turns of a session', () => {
  it('are exactly 100 with 200 parallel attempts on two processes', async () => {
    const minted = await mint();
    await hadTurns(minted, 97);
    service.models.always(says('Hello'));
    const replica = await service.replica();
    try {
      const statuses: number[] = [];
      // A thread has one run at a time: an attempt that is refused with 409 is repeated.
      const attempt = async (index: number): Promise<void> => {
        for (;;) {
          const { status, body, headers } = await run(minted, index % 2 === 0 ? service : replica);
          if (status === 409) continue;
          if (status === 429 && body['code'] === 'rate_limited') {
            // The session's rate limit is used up long before its turns.
            for (const { app } of [service, replica]) await renewBudget(app, `session:${minted.session.id}`);
            continue;
          }
          if (status === 429)
            expect({ ...body, wait: headers.get('retry-after') }).toMatchObject({
              code: 'session_turn_cap_exhausted',
              wait: null,
            });
          statuses.push(status);
          return;
        }
      };
      await Promise.all(Array.from({ length: 200 }, (_, index) => attempt(index)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(3);
      expect(statuses.filter((status) => status === 429)).toHaveLength(197);
      const [stored] = await service.database.query<{ runs: number }>(
        'select count(*)::int as runs from runs where session_id = $1',
        [minted.session.id],
      );
      expect(stored?.runs).toBe(100);
    } finally {
      await replica.close();
    }
  });

  it('do not include rejoins, cancels, repeats of a request, and reads', async () => {
    const minted = await mint();
    await hadTurns(minted, 99);
    service.models.next(says('Last'));
    const path = `/v1/threads/${minted.session.thread_id}`;
    const last = { key: minted.pass.token, body: message('Hi'), headers: { 'idempotency-key': 'last' } };
    const first = await service.http<{ run: { id: string } }>('POST', `${path}/runs`, last);
    expect(first.status).toBe(200);
    expect((await service.http<{ run: { id: string } }>('POST', `${path}/runs`, last)).body.run.id).toBe(
      first.body.run.id,
    );
    const rejoin = { key: minted.pass.token, body: { rejoin: { runId: first.body.run.id } } };
    expect((await service.http('POST', `${path}/runs/stream`, rejoin)).status).toBe(200);
    const cancel = { key: minted.pass.token, body: { cancel: { runId: first.body.run.id } } };
    expect((await service.http('POST', `${path}/runs/stream`, cancel)).status).toBe(200);
    expect((await service.http('GET', `${path}/messages`, { key: minted.pass.token })).status).toBe(200);
    const before = await service.database.query('select id from messages where thread_id = $1', [
      minted.session.thread_id,
    ]);
    expect((await run(minted)).body).toMatchObject({ code: 'session_turn_cap_exhausted' });
    expect(
      await service.database.query('select id from messages where thread_id = $1', [minted.session.thread_id]),
    ).toEqual(before);
  });

  it('count for one session: a new session can continue the conversation, and runs with an API key do not count', async () => {
    const minted = await mint();
    await hadTurns(minted, 100);
    service.models.always(says('Hello'));
    expect((await run(minted)).status).toBe(429);
    expect((await run(await mint({ thread_id: minted.session.thread_id }))).status).toBe(200);
    const withKey = { key: organization.key, body: message('Hi') };
    expect((await service.http('POST', `/v1/threads/${minted.session.thread_id}/runs`, withKey)).status).toBe(200);
  });
});

describe('the budget of a session', () => {
  it('is 60 requests a minute for all its passes and routes, and every response has it in its headers', async () => {
    const minted = await mint();
    const path = `/v1/threads/${minted.session.thread_id}/messages`;
    const first = await service.http('GET', path, { key: minted.pass.token });
    expect(budgetOf(first.headers)).toEqual(['60', '59', '60']);
    const renewed = (await renewSession(service, organization.key, minted)).body.pass.token;
    const elsewhere = await service.http('GET', '/v1/threads', { key: renewed });
    expect([elsewhere.status, ...budgetOf(elsewhere.headers)]).toEqual([403, '60', '58', '60']);
    const unreadable = await service.http('POST', `/v1/threads/${minted.session.thread_id}/runs`, {
      key: renewed,
      body: '{',
    });
    expect([unreadable.status, ...budgetOf(unreadable.headers).slice(0, 2)]).toEqual([400, '60', '57']);
    await useUpBudget(storage(), `session:${minted.session.id}`, 60, 'session');
    const refused = await service.http('GET', path, { key: renewed });
    expect(refused).toMatchObject({
      status: 429,
      body: { statusCode: 429, code: 'rate_limited', error: 'too_many_requests' },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(budgetOf(refused.headers).slice(0, 2)).toEqual(['60', '0']);
    expect(refused.headers.get('x-thread-id')).toBe(minted.session.thread_id);
    expect(await service.http('GET', '/v1/threads', { key: renewed })).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
    expect((await service.http('GET', path, { key: (await mint()).pass.token })).status).toBe(404);
  });

  it('does not reveal whether another conversation exists, also when it is used up', async () => {
    const [minted, other] = [await mint(), await mint()];
    await useUpBudget(storage(), `session:${minted.session.id}`, 60, 'session');
    const refused = await service.http('GET', `/v1/threads/${other.session.thread_id}/messages`, {
      key: minted.pass.token,
    });
    expect([refused.status, refused.headers.get('x-thread-id')]).toEqual([429, null]);
  });

  it('allows exactly 60 of 200 parallel requests on two processes', async () => {
    const minted = await mint();
    const replica = await service.replica();
    try {
      const path = `/v1/threads/${minted.session.thread_id}/messages`;
      const on = ON_CLUSTER ? [service, replica] : [service];
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => on[index % on.length]!.http('GET', path, { key: minted.pass.token })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    } finally {
      await replica.close();
    }
  });
});

describe('a run with a pass', () => {
  it('also counts in the chat budget of its agent, and counts in neither when one is used up', async () => {
    const own = await service.agent(organization.key);
    const minted = await mint({ assistant_id: own });
    const chat = `chat:${organization.id}:${own}`;
    service.models.next(says('Hello'));
    const answer = await run(minted);
    // The headers have the budget with fewer requests left.
    expect(budgetOf(answer.headers).slice(0, 2)).toEqual(['60', '59']);
    expect((await storage().increment(chat, 60_000, 600, 0, 'chat')).totalHits).toBe(2);
    await useUpBudget(storage(), chat, 600);
    const refused = await run(minted);
    expect([refused.status, refused.body['code'], ...budgetOf(refused.headers).slice(0, 2)]).toEqual([
      429,
      'rate_limited',
      '600',
      '0',
    ]);
    const after = await service.http('GET', `/v1/threads/${minted.session.thread_id}/messages`, {
      key: minted.pass.token,
    });
    expect(budgetOf(after.headers)[1]).toBe('58');
  });
});

describe('the budgets of the mint and of the renewal', () => {
  it('are 600 a minute: of each agent, and of the organization', async () => {
    const own = await service.organization();
    const [agent, other] = [await service.agent(own.key), await service.agent(own.key)];
    const begin = (assistant_id: string) =>
      service.http<Credentials>('POST', '/v1/sessions', { key: own.key, body: { assistant_id } });
    const minted = await begin(agent);
    expect(budgetOf(minted.headers)).toEqual(['600', '599', '60']);
    const renewed = await renewSession(service, own.key, minted.body);
    expect(budgetOf(renewed.headers)).toEqual(['600', '599', '60']);
    await useUpBudget(storage(), `sessions:${own.id}:${agent}`, 600, 'sessions');
    expect(await begin(agent)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await begin(other)).status).toBe(201);
    await useUpBudget(storage(), `sessionRefresh:${own.id}`, 600, 'sessionRefresh');
    const refused = await renewSession(service, own.key, minted.body);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });
});

describe('every response of a route with a budget', () => {
  it.each([
    ['an unreadable body', '/v1/chat/completions', '{', 400],
    ['a body that its schema refuses', '/v1/threads', { nonsense: true }, 400],
    ['an agent that does not exist', '/v1/sessions', { assistant_id: newId() }, 404],
    ['an unreadable body of a renewal', '/v1/sessions/refresh', '{', 400],
    ['a wrong content type', '/v1/threads', 'text', 415],
  ] as const)('has the rest of the budget in its headers: %s', async (_what, path, body, status) => {
    const own = await service.organization();
    const text = { headers: { 'content-type': 'text/plain' } };
    const answer = await service.http('POST', path, { key: own.key, body, ...(status === 415 ? text : {}) });
    expect([answer.status, ...budgetOf(answer.headers)]).toEqual([status, '600', '599', '60']);
  });

  it('has the budget of the address of the caller when the credential is invalid', async () => {
    const answer = await service.http('POST', '/v1/threads', { body: { assistant_id: agentId } });
    expect([answer.status, budgetOf(answer.headers)[0]]).toEqual([401, '60']);
    expect(answer.headers.get('retry-after')).toBeNull();
  });
});

describe('a minted conversation', () => {
  const sweep = () =>
    service.app.get(RemoveEmptyThreads, { strict: false }).process({ signal: AbortSignal.timeout(30_000) } as never);
  const there = async (threadId: string) =>
    (await service.http('GET', `/v1/threads/${threadId}`, { key: organization.key })).status;

  it('without messages is removed after 7 days, and no other conversation is', async () => {
    const [empty, begun] = [await mint(), await mint()];
    const ofKey = await service.thread(organization.key, agentId);
    service.models.next(says('Hello'));
    expect((await run(begun)).status).toBe(200);
    clock.moveOn(6.9 * DAY_MS);
    const young = await mint();
    await sweep();
    expect(await there(empty.session.thread_id)).toBe(200);
    clock.moveOn(0.2 * DAY_MS);
    await sweep();
    expect(await there(empty.session.thread_id)).toBe(404);
    for (const id of [begun.session.thread_id, young.session.thread_id, ofKey]) expect(await there(id)).toBe(200);
  });
});

describe('sessions that ended 30 days ago', () => {
  it('are removed, with signing keys of which no pass can be valid', async () => {
    const old = await mint();
    clock.moveOn(29 * DAY_MS);
    const purge = () =>
      service.app.get(PurgeSessions, { strict: false }).process({ signal: AbortSignal.timeout(30_000) } as never);
    await purge();
    expect((await renewSession(service, organization.key, old)).body).toMatchObject({ code: 'resume_token_expired' });
    clock.moveOn(2 * DAY_MS);
    const young = await mint();
    await purge();
    expect((await renewSession(service, organization.key, old)).body).toMatchObject({ code: 'resume_token_invalid' });
    expect((await renewSession(service, organization.key, young)).status).toBe(200);
  });
});
