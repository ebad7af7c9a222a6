import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { newId } from '../../../src/platform/ids/index.js';
import {
  message,
  type RequestOptions,
  type StreamedEvent,
  type TestOrganization,
  until,
  useService,
} from '../../support/harness.js';
import { calls, HeldReply, says } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { textOf } from '../../support/talk.js';
import { type Credentials, mintSession, partsOf } from '../../support/web-sessions.js';

const clock = new ShiftedClock();
const service = useService({ clock });
let organization: TestOrganization;
let agentId: string;

beforeAll(async () => {
  organization = await service.organization('--features', 'response_components');
  agentId = await service.agent(organization.key);
});

const mint = (more: object = {}): Promise<Credentials> =>
  mintSession(service, organization.key, { assistant_id: agentId, ...more });
const base = (threadId: string): string => `/v1/threads/${threadId}`;
const read = (key: string, threadId: string) => service.http('GET', `${base(threadId)}/messages`, { key });
const run = (key: string, threadId: string, body: object = message('Hi'), options: RequestOptions = {}) =>
  service.http<{ run: { id: string }; message: Record<string, unknown> }>('POST', `${base(threadId)}/runs`, {
    key,
    body,
    ...options,
  });

async function streamed(
  threadId: string,
  key: string,
  body: object,
  events: StreamedEvent[] = [],
): Promise<StreamedEvent[]> {
  for await (const event of service.stream(`${base(threadId)}/runs/stream`, { key, body })) events.push(event);
  return events;
}

describe('a session pass', () => {
  it('sends messages, streams replies, rejoins them and reads the conversation', async () => {
    const { session, pass } = await mint();
    service.models.next(says('One'));
    expect(await run(pass.token, session.thread_id)).toMatchObject({
      status: 200,
      body: { message: { content: 'One' } },
    });
    service.models.next(says('Two'));
    const events = await streamed(session.thread_id, pass.token, message('Again'));
    expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_FINISHED', result: { message: { content: 'Two' } } });
    const { runId } = events[0]?.event as unknown as { runId: string };
    const rejoined = await streamed(session.thread_id, pass.token, { rejoin: { runId, startingAfter: 1 } });
    expect(rejoined).toEqual(events.slice(1));
    const { body } = await read(pass.token, session.thread_id);
    expect((body as { messages: { content: string }[] }).messages.map(({ content }) => content)).toEqual([
      'Hi',
      'One',
      'Again',
      'Two',
    ]);
  });

  it('opens no other conversation: the response is that for one that does not exist', async () => {
    const [own, other] = [await mint(), await mint()];
    const foreign = await service.organization();
    const theirs = await service.thread(foreign.key, await service.agent(foreign.key));
    const absent = newId();
    for (const threadId of [other.session.thread_id, theirs, absent]) {
      for (const answer of [await read(own.pass.token, threadId), await run(own.pass.token, threadId)]) {
        expect({ status: answer.status, body: answer.body }).toEqual({
          status: 404,
          body: { statusCode: 404, error: 'not_found', message: 'No thread with this id exists.' },
        });
        expect(answer.headers.get('x-thread-id')).toBeNull();
      }
    }
    expect((await read(own.pass.token, 'main')).body).toMatchObject({ code: 'FST_ERR_VALIDATION' });
  });

  it('cancels a run of its conversation, whose stream ends with the text so far', async () => {
    const { session, pass } = await mint();
    const held = new HeldReply(['so far'], [' and on']);
    service.models.next(held.script);
    const read: StreamedEvent[] = [];
    const reading = streamed(session.thread_id, pass.token, message('Hi'), read);
    const exchange = await held.asked;
    await until(() => textOf(read) === 'so far', 'the reader has the text');
    const cancel = { runId: read[0]?.event['runId'], startingAfter: read.length };

    const rest = await streamed(session.thread_id, pass.token, { cancel });

    expect(rest.at(-1)?.event).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'cancelled' },
      result: { message: { content: 'so far', status: 'incomplete' } },
    });
    await exchange.disconnected;
    held.finish();
    expect(await reading).toEqual([...read.slice(0, cancel.startingAfter), ...rest]);
  });

  it.each(['rejoin', 'cancel'])('cannot %s a run of another conversation', async (how) => {
    const [own, other] = [await mint(), await mint()];
    const held = new HeldReply(['Secret'], [' kept']);
    service.models.next(held.script);
    const running = run(other.pass.token, other.session.thread_id);
    await held.asked;
    const [stored] = await service.database.query<{ id: string }>('select id from runs where thread_id = $1', [
      other.session.thread_id,
    ]);
    const path = `${base(own.session.thread_id)}/runs/stream`;
    const ask = (runId: string) => service.http('POST', path, { key: own.pass.token, body: { [how]: { runId } } });
    const [foreign, invented] = [await ask(stored?.id ?? ''), await ask(newId())];
    expect([foreign.status, foreign.text]).toEqual([404, invented.text]);
    held.finish();
    expect(await running).toMatchObject({
      body: { run: { status: 'completed' }, message: { content: 'Secret kept' } },
    });
  });

  it('opens no other agent', async () => {
    const { session, pass } = await mint();
    const other = await service.agent(organization.key);
    for (const agent of [other, newId()]) {
      expect(await run(pass.token, session.thread_id, { ...message('Hi'), assistant_id: agent })).toMatchObject({
        status: 403,
        body: { statusCode: 403, code: 'forbidden_agent_not_in_pass', error: 'forbidden' },
      });
    }
  });

  it('opens no other route', async () => {
    const { session, pass, resumeToken } = await mint();
    const attempts = [
      ['POST', '/v1/threads', { assistant_id: agentId }],
      ['GET', '/v1/threads', undefined],
      ['GET', base(session.thread_id), undefined],
      ['DELETE', base(session.thread_id), undefined],
      ['GET', `/v1/agents/${agentId}`, undefined],
      ['POST', '/v1/chat/completions', { assistant_id: agentId, messages: [{ role: 'user', content: 'Hi' }] }],
      ['POST', '/v1/chat/suggestions', { assistant_id: agentId, messages: [{ role: 'user', content: 'Hi' }] }],
      ['POST', '/v1/sessions', { assistant_id: agentId }],
      ['POST', '/v1/sessions/refresh', { resumeToken: resumeToken.token }],
      ['POST', '/v1/api-keys', { name: 'x', capabilities: ['chat'] }],
    ] as const;
    for (const [method, path, body] of attempts) {
      expect(await service.http(method, path, { key: pass.token, body })).toMatchObject({
        status: 403,
        body: { statusCode: 403, code: 'forbidden_for_session_pass', error: 'forbidden' },
      });
    }
    expect((await service.http('GET', '/v1/nowhere', { key: pass.token })).status).toBe(404);
  });

  it('is refused before the body is read, whatever its size', async () => {
    const { pass } = await mint();
    const headers = {
      authorization: `Bearer ${pass.token}`,
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': '50000000',
    };
    const upload = request(`${service.baseUrl}/v1/files/upload`, { method: 'POST', headers });
    upload.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
    // The rest of the body is not sent.
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(403);
    expect(JSON.parse(await text(answer))).toMatchObject({ code: 'forbidden_for_session_pass' });
    expect(answer.headers).toMatchObject({ 'ratelimit-limit': '60', 'ratelimit-remaining': '59' });
    upload.destroy();
  });

  it('sends no attachments of any URL; an empty list is allowed', async () => {
    const { session, pass } = await mint();
    const attachments = ['https://files.example/a.txt', 'data:text/plain,secret'].map((url) => ({
      name: 'a.txt',
      url,
      contentType: 'text/plain',
    }));
    const send = (list: readonly object[]): object => ({ message: { role: 'user', content: 'Hi', attachments: list } });
    for (const attachment of attachments) {
      for (const route of ['runs', 'runs/stream']) {
        const body = send([attachment]);
        const answer = await service.http('POST', `${base(session.thread_id)}/${route}`, { key: pass.token, body });
        expect(answer).toMatchObject({
          status: 403,
          body: { code: 'forbidden_for_session_pass', message: expect.stringContaining('attachments') },
        });
      }
    }
    expect((await read(pass.token, session.thread_id)).body).toMatchObject({ messages: [] });
    service.models.next(says('One'));
    expect((await run(pass.token, session.thread_id, send([]))).status).toBe(200);
  });

  it('expires, and the error names that', async () => {
    const { session, pass } = await mint();
    clock.moveOn(901_000);
    expect(await read(pass.token, session.thread_id)).toMatchObject({
      status: 401,
      body: { statusCode: 401, code: 'pass_expired', error: 'unauthorized' },
    });
  });

  it('is no resume token, and a resume token is no pass', async () => {
    const { session, resumeToken } = await mint();
    expect((await read(resumeToken.token, session.thread_id)).body).toMatchObject({ code: 'api_key_invalid' });
  });

  it('has idempotency keys that are valid in its session alone', async () => {
    const [one, two] = [await mint(), await mint()];
    service.models.always((exchange, wire) => exchange.sendAll(wire.text(['Hello'], { input: 1, output: 1 })));
    const headers = { 'idempotency-key': 'first' };
    const first = await run(one.pass.token, one.session.thread_id, message('Hi'), { headers });
    const repeat = await run(one.pass.token, one.session.thread_id, message('Hi'), { headers });
    expect(repeat.body.run.id).toBe(first.body.run.id);
    const elsewhere = await run(two.pass.token, two.session.thread_id, message('Hi'), { headers });
    expect(elsewhere.status).toBe(200);
    expect(elsewhere.body.run.id).not.toBe(first.body.run.id);
  });

  it('makes every run a run of the widget, of an old version when the run names none', async () => {
    const buttons = await service.agent(organization.key);
    await service.http('PATCH', `/v1/agents/${buttons}`, {
      key: organization.key,
      body: { responseComponents: { frequency: 'high' } },
    });
    const { session, pass } = await mint({ assistant_id: buttons });
    service.models.next(calls('present_confirm', { question: 'Sure?' }), says('Well?'));
    const old = await run(pass.token, session.thread_id);
    expect(old.body.message).toMatchObject({
      components: [{ component: 'confirm' }],
      content: expect.stringContaining('Sure?'),
    });
    service.models.next(calls('present_confirm', { question: 'Sure?' }), says('Well?'));
    const recent = await run(pass.token, session.thread_id, message('Hi', { widget: { version: '1.0.0' } }));
    expect(recent.body.message).toMatchObject({
      components: [{ component: 'confirm' }],
      content: expect.not.stringContaining('Sure?'),
    });
  });
});

describe('a forged pass', () => {
  const forge = async (change: {
    alg?: string;
    kid?: string;
    claims?: object;
    aud?: string;
    iss?: string;
    typ?: string;
    token?: string;
  }) => {
    const minted = await mint();
    const { header, payload } = partsOf(minted.pass.token);
    const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
    const token =
      change.token ??
      (await new SignJWT({ ...payload, ...change.claims })
        .setProtectedHeader({
          alg: 'EdDSA',
          kid: change.kid ?? String(header['kid']),
          typ: change.typ ?? 'session-pass+jwt',
        })
        .sign(privateKey));
    return { token, minted };
  };
  const unsigned = (header: object, payload: object): string =>
    [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');

  it.each([
    ['signed with another key', {}],
    ['under a key that does not exist', { kid: newId() }],
    ['under a key whose name is no id', { kid: '../../keys' }],
    ['with other claims', { claims: { thread: newId() } }],
  ])('is refused: %s', async (_what, change) => {
    const { token, minted } = await forge(change);
    expect(await read(token, minted.session.thread_id)).toMatchObject({
      status: 401,
      body: { statusCode: 401, code: 'pass_invalid', error: 'unauthorized' },
    });
  });

  it('is refused with every other algorithm and after every change', async () => {
    const { session, pass } = await mint();
    const { header, payload } = partsOf(pass.token);
    const [head = '', body = '', signature = ''] = pass.token.split('.');
    const jwk = await exportJWK((await generateKeyPair('EdDSA', { extractable: true })).publicKey);
    const secret = new TextEncoder().encode(JSON.stringify(header));
    const others = [
      `${unsigned({ ...header, alg: 'none' }, payload)}.${signature}`,
      `${unsigned({ ...header, alg: 'HS256' }, payload)}.${signature}`,
      await new SignJWT(payload).setProtectedHeader({ ...header, alg: 'HS256' }).sign(secret),
      `${unsigned({ ...header, jwk }, payload)}.${signature}`,
      `${head}.${unsigned({}, { ...payload, exp: 9_999_999_999 }).split('.')[1] ?? ''}.${signature}`,
      `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      // The same bytes in another text: four bits of the last character are unused.
      `${head}.${body}.${signature.slice(0, -1)}${String.fromCharCode(signature.charCodeAt(85) + 1)}`,
      `${head}.${body}.A`,
      // An empty signature.
      `${head}.${body}.`,
      'a.b.c',
      `${'x'.repeat(4_000)}.${'y'.repeat(4_000)}.z`,
    ];
    for (const token of others) {
      expect({ token, ...(await read(token, session.thread_id)) }).toMatchObject({
        token,
        status: 401,
        body: { code: 'pass_invalid' },
      });
    }
  });
});

describe('the keys that sign passes', () => {
  it('are replaced, are announced before they sign, and their passes stay valid in every process', async () => {
    const before = await mint();
    const replica = await service.replica();
    try {
      clock.moveOn(31 * 86_400_000);
      // The first mint finds that the key is too old and stores its successor.
      const announced = await mint();
      expect(partsOf(announced.pass.token).header).toEqual(partsOf(before.pass.token).header);
      clock.moveOn(61_000);
      const after = await mint();
      expect(partsOf(after.pass.token).header).not.toEqual(partsOf(before.pass.token).header);
      for (const { pass, session } of [announced, after]) {
        for (const each of [service, replica]) {
          const { status } = await each.http('GET', `${base(session.thread_id)}/messages`, { key: pass.token });
          expect(status).toBe(200);
        }
      }
      const keys = await service.database.query('select id from session_signing_keys');
      expect(keys).toHaveLength(2);
    } finally {
      await replica.close();
    }
  });

  it('are not created twice when several processes need the first one', async () => {
    const replica = await service.replica();
    try {
      await service.database.query('delete from session_signing_keys');
      clock.moveOn(60_000);
      await Promise.all(
        [service, replica].flatMap((each) =>
          Array.from({ length: 5 }, () => mintSession(each, organization.key, { assistant_id: agentId })),
        ),
      );
      expect(await service.database.query('select id from session_signing_keys')).toHaveLength(1);
    } finally {
      await replica.close();
    }
  });

  it('are stored encrypted', async () => {
    const [secret] = await service.database.query<{ ciphertext: Buffer }>(
      `select ciphertext from secrets where field = 'private_key' and record_id in (select id from session_signing_keys)`,
    );
    expect(Buffer.from(secret!.ciphertext).toString('latin1')).not.toContain('PRIVATE KEY');
  });
});

describe('a session whose agent is deleted', () => {
  it('opens nothing any more, and its user is removed', async () => {
    const own = await service.agent(organization.key);
    const { session, pass } = await mint({ assistant_id: own, endUser: 'u-gone' });
    await service.http('DELETE', `/v1/agents/${own}`, { key: organization.key });
    expect((await read(pass.token, session.thread_id)).status).toBe(404);
    await until(async () => {
      const [row] = await service.database.query<{ known: boolean }>(
        'select coalesce(end_user_digest, end_user_salt, user_key::text) is not null as known from sessions where id = $1',
        [session.id],
      );
      return row?.known === false;
    }, 'the user is forgotten');
  });
});
