import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { message, type TestOrganization, useService } from '../../support/harness.js';
import { calls, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { type Credentials, mintSession, partsOf, renewSession } from '../../support/web-sessions.js';

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
const refusedMint = (body: object, key = organization.key) => service.http('POST', '/v1/sessions', { key, body });
const refresh = (body: object, key = organization.key) => service.http('POST', '/v1/sessions/refresh', { key, body });
const secondsTo = (instant: string): number => (Date.parse(instant) - clock.now().getTime()) / 1000;

describe('a minted session', () => {
  it('has a conversation of its own, a pass of 15 minutes and a resume token of 2 hours', async () => {
    const { session, pass, resumeToken } = await mint();
    expect(session).toEqual({
      id: expect.any(String),
      assistant_id: agentId,
      thread_id: expect.any(String),
      expiresAt: resumeToken.expiresAt,
    });
    expect([pass.expiresInSeconds, resumeToken.expiresInSeconds]).toEqual([900, 7_200]);
    expect(secondsTo(pass.expiresAt)).toBeGreaterThan(895);
    expect(secondsTo(resumeToken.expiresAt)).toBeGreaterThan(7_195);
    const thread = await service.http('GET', `/v1/threads/${session.thread_id}`, { key: organization.key });
    expect(thread.body).toMatchObject({ channel: 'widget', assistant_id: agentId, lastMessageAt: null });
  });

  it('lasts 24 hours when it names a user, and the database does not have the id of the user in clear text', async () => {
    const endUser = `visitor-${newId()}`;
    const { session, resumeToken } = await mint({ endUser });
    expect(resumeToken.expiresInSeconds).toBe(86_400);
    const [row] = await service.database.query<Record<string, unknown>>('select * from sessions where id = $1', [
      session.id,
    ]);
    const stored = JSON.stringify(row);
    for (const secret of [endUser, resumeToken.token, resumeToken.token.slice(3)]) expect(stored).not.toContain(secret);
  });

  it('has a pass signed with EdDSA by a key that the pass names, for this service alone', async () => {
    const { session, pass } = await mint();
    const { header, payload } = partsOf(pass.token);
    expect(header).toEqual({ alg: 'EdDSA', kid: expect.any(String), typ: 'session-pass+jwt' });
    expect(payload).toEqual({
      sid: session.id,
      org: organization.id,
      agent: agentId,
      thread: session.thread_id,
      iss: 'agent-service',
      aud: 'agent-service/v1',
      iat: expect.any(Number),
      exp: Date.parse(pass.expiresAt) / 1000,
    });
  });

  it('can continue any conversation of the agent', async () => {
    const threadId = await service.thread(organization.key, agentId);
    const { session } = await mint({ thread_id: threadId.toUpperCase() });
    expect(session.thread_id).toBe(threadId);
  });

  it.each([
    ['an e-mail address', { endUser: 'ada@example.com' }, 'endUser'],
    ['no text', { endUser: '' }, 'endUser'],
    ['too long a text', { endUser: 'x'.repeat(1_001) }, 'endUser'],
    ['an unknown field', { end_user: 'u' }, 'end_user'],
    ['an id that is none', { thread_id: 'main' }, 'thread_id'],
  ])('is refused with %s', async (_what, more, field) => {
    const answer = await refusedMint({ assistant_id: agentId, ...more });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(field) },
    });
  });

  it('of an agent of another organization gets the same response as of one that does not exist', async () => {
    const other = await service.organization();
    const foreign = await service.agent(other.key);
    for (const assistant_id of [foreign, newId()]) {
      expect(await refusedMint({ assistant_id })).toMatchObject({
        status: 404,
        body: { error: 'agent_not_found', message: expect.any(String) },
      });
    }
    const answer = await refusedMint({ assistant_id: newId() });
    expect(Object.keys(answer.body).sort()).toEqual(['error', 'message']);
  });

  it('of a conversation of another organization or agent gets the same response as of one that does not exist', async () => {
    const other = await service.organization();
    const foreign = await service.thread(other.key, await service.agent(other.key));
    const ofAnotherAgent = await service.thread(organization.key, await service.agent(organization.key));
    const answers = await Promise.all(
      [foreign, ofAnotherAgent, newId()].map((thread_id) => refusedMint({ assistant_id: agentId, thread_id })),
    );
    for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 404, body: answers[2]?.body });
    expect(answers[2]?.body).toEqual({ error: 'thread_not_found', message: expect.any(String) });
  });
});

describe('a renewal', () => {
  it('gives the session a new pass, and changes neither its expiry nor its conversation', async () => {
    const minted = await mint({ endUser: 'u-1' });
    clock.moveOn(60_000);
    const { status, body } = await renewSession(service, organization.key, minted, 'u-1');
    expect(status).toBe(200);
    expect(body).toEqual({ session: minted.session, pass: expect.any(Object) });
    expect(body.pass.expiresInSeconds).toBe(900);
    expect(body.pass.token).not.toBe(minted.pass.token);
  });

  it('gives a pass that expires with the session at the latest', async () => {
    const minted = await mint();
    clock.moveOn(7_000_000);
    const { body } = await renewSession(service, organization.key, minted);
    expect(body.pass.expiresAt).toBe(minted.session.expiresAt);
    expect(body.pass.expiresInSeconds).toBeLessThanOrEqual(200);
  });

  it('needs exactly the same user, byte for byte', async () => {
    const minted = await mint({ endUser: 'Zoë' });
    for (const other of ['Zoe\u0308', 'zoë', 'Zoë ', undefined]) {
      expect(await renewSession(service, organization.key, minted, other)).toMatchObject({
        status: 400,
        body: { statusCode: 400, code: 'resume_token_invalid', error: 'bad_request' },
      });
    }
    expect((await renewSession(service, organization.key, minted, 'Zoë')).status).toBe(200);
    const withoutUser = await mint();
    expect((await renewSession(service, organization.key, withoutUser, 'u')).body).toMatchObject({
      code: 'resume_token_invalid',
    });
  });

  it('with a malformed or changed token, or one of another organization, is refused with the same response', async () => {
    const other = await service.organization();
    const { resumeToken, pass } = await mint();
    const changed = `${resumeToken.token.slice(0, -1)}${resumeToken.token.endsWith('A') ? 'B' : 'A'}`;
    const answers = [
      await refresh({ resumeToken: 'rt_nonsense' }),
      await refresh({ resumeToken: changed }),
      await refresh({ resumeToken: pass.token }),
      await refresh({ resumeToken: resumeToken.token }, other.key),
    ];
    for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 400, body: answers[0]?.body });
    expect(answers[0]?.body).toMatchObject({ statusCode: 400, code: 'resume_token_invalid', error: 'bad_request' });
  });

  it('is refused after the session has expired', async () => {
    const minted = await mint();
    clock.moveOn(7_201_000);
    expect(await renewSession(service, organization.key, minted)).toMatchObject({
      status: 400,
      body: { statusCode: 400, code: 'resume_token_expired', error: 'bad_request' },
    });
  });

  it('and a mint find out at once that another process has deleted the conversation or the agent', async () => {
    const key = organization.key;
    const own = await service.agent(key);
    const minted = await mint({ assistant_id: own });
    const other = await mint({ assistant_id: own });
    const replica = await service.replica();
    try {
      const body = { assistant_id: own, thread_id: minted.session.thread_id };
      // This process has cached both by now.
      expect(await refusedMint(body)).toMatchObject({ status: 201 });
      expect(await renewSession(service, key, other)).toMatchObject({ status: 200 });
      await replica.http('DELETE', `/v1/threads/${minted.session.thread_id}`, { key });
      expect(await renewSession(service, key, minted)).toMatchObject({
        status: 404,
        body: { error: 'thread_not_found' },
      });
      expect(await refusedMint(body)).toMatchObject({ status: 404, body: { error: 'thread_not_found' } });
      await replica.http('DELETE', `/v1/agents/${own}`, { key });
      expect(await renewSession(service, key, other)).toMatchObject({
        status: 404,
        body: { error: 'agent_not_found' },
      });
      expect(await refusedMint({ assistant_id: own })).toMatchObject({
        status: 404,
        body: { error: 'agent_not_found' },
      });
    } finally {
      await replica.close();
    }
  });

  it('names the cause when the conversation or the agent has been deleted', async () => {
    const own = await service.agent(organization.key);
    const minted = await mint({ assistant_id: own, endUser: 'u-1' });
    const other = await mint({ assistant_id: own, endUser: 'u-1' });
    await service.http('DELETE', `/v1/threads/${minted.session.thread_id}`, { key: organization.key });
    const gone = await renewSession(service, organization.key, minted, 'u-1');
    expect(gone).toMatchObject({ status: 404, body: { error: 'thread_not_found' } });
    await service.http('DELETE', `/v1/agents/${own}`, { key: organization.key });
    const agentGone = await renewSession(service, organization.key, other, 'u-1');
    expect({ status: agentGone.status, body: agentGone.body }).toEqual({
      status: 404,
      body: { error: 'agent_not_found', message: expect.any(String) },
    });
  });

  it('needs a key that may use the agent', async () => {
    const excluded = await organization.keyWith(['chat'], [await service.agent(organization.key)]);
    const minted = await mint();
    expect((await renewSession(service, excluded.key, minted)).body).toMatchObject({
      code: 'forbidden_by_agent_allowlist',
    });
    const lacking = await organization.keyWith(['manageAgents']);
    expect((await renewSession(service, lacking.key, minted)).body).toMatchObject({ code: 'forbidden_by_key_role' });
  });

  it('succeeds exactly 240 times for a session, also with parallel requests to several processes', async () => {
    const minted = await mint();
    const replica = await service.replica();
    try {
      await service.database.query('update sessions set renewals = 200 where id = $1', [minted.session.id]);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          renewSession(index % 2 === 0 ? service : replica, organization.key, minted),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const { status, body, headers } of refused) {
        expect({ status, body }).toMatchObject({ status: 429, body: { code: 'session_refresh_cap_exhausted' } });
        expect(headers.get('retry-after')).toBeNull();
      }
    } finally {
      await replica.close();
    }
  });
});

describe('a session whose key', () => {
  it('is revoked ends: at once in this process, and within 5 seconds in others', async () => {
    const { id, key } = await organization.keyWith(['chat']);
    const minted = await mintSession(service, key, { assistant_id: agentId });
    const replica = await service.replica();
    try {
      const path = `/v1/threads/${minted.session.thread_id}/messages`;
      for (const each of [service, replica])
        expect((await each.http('GET', path, { key: minted.pass.token })).status).toBe(200);
      await service.cli('key', 'revoke', id);
      expect(await service.http('GET', path, { key: minted.pass.token })).toMatchObject({
        status: 401,
        body: { code: 'pass_invalid' },
      });
      expect((await renewSession(service, organization.key, minted)).body).toMatchObject({
        code: 'resume_token_invalid',
      });
      clock.moveOn(5_000);
      expect(await replica.http('GET', path, { key: minted.pass.token })).toMatchObject({
        status: 401,
        body: { code: 'pass_invalid' },
      });
    } finally {
      await replica.close();
    }
  });

  it('mints it can be renewed with any key of the organization', async () => {
    const { key } = await organization.keyWith(['chat']);
    const minted = await mint();
    expect((await renewSession(service, key, minted)).status).toBe(200);
  });
});

describe('a minted session and long-term memory', () => {
  it('uses the memories of its user, and no others whatever a run contains', async () => {
    const { pass, session } = await mint({ endUser: 'u-memory' });
    const path = `/v1/threads/${session.thread_id}/runs`;
    const foreign = await service.http('POST', path, {
      key: pass.token,
      body: message('Hi', { config: { userContext: { userId: 'u-2' } } }),
    });
    expect(foreign).toMatchObject({ status: 403, body: { code: 'forbidden_for_session_pass' } });
    service.models.next(calls('memory_save', { text: 'Rides uphill' }), says('Noted.'));
    expect((await service.http('POST', path, { key: pass.token, body: message('Hi') })).status).toBe(200);
    const remembered = async (userId: string) => {
      const { body } = await service.http<{ memories: { text: string }[] }>(
        'GET',
        `/v1/agents/${agentId}/memories?userId=${userId}`,
        { key: organization.key },
      );
      return body.memories.map(({ text }) => text);
    };
    expect(await remembered('u-memory')).toEqual(['Rides uphill']);
    expect(await remembered('u-2')).toEqual([]);
    const anonymousSession = await mint();
    service.models.next((exchange, wire) => {
      expect(sentToolNames(exchange.request.body)).not.toContain('memory_save');
      return says('Hello')(exchange, wire);
    });
    const anonymous = { key: anonymousSession.pass.token, body: message('Hi') };
    expect(
      (await service.http('POST', `/v1/threads/${anonymousSession.session.thread_id}/runs`, anonymous)).status,
    ).toBe(200);
  });
});
