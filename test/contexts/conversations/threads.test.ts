import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const service = useService();

function create(key: string, body: unknown) {
  return service.http('POST', '/v1/threads', { key, body });
}

async function threadsOf(agentId: string): Promise<number> {
  return (await service.database.query('select id from threads where agent_id = $1', [agentId])).length;
}

describe('a new thread', () => {
  it('has all its fields in the response, with its metadata', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key);
    const metadata = { ticket: '4711', empty: '', emoji: '😀' };

    const { status, body, headers } = await create(key, { assistant_id: agentId, metadata });

    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      assistant_id: agentId,
      title: null,
      channel: 'api',
      metadata,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: body['createdAt'],
      lastMessageAt: null,
    });
    expect(headers.get('x-request-id')).toBeTruthy();
  });

  it('keeps the request id of its caller', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key);
    const headers = { 'x-request-id': 'from-the-caller' };
    const answer = await service.http('POST', '/v1/threads', { key, body: { assistant_id: agentId }, headers });
    expect(answer.headers.get('x-request-id')).toBe('from-the-caller');
  });

  it.each([
    ['no assistant_id', {}, /assistant_id/],
    ['an assistant_id that is no UUID', { assistant_id: 'helper' }, /assistant_id/],
    ['an unknown field', { assistant_id: 'agent', colour: 'red' }, /colour/],
    ['metadata that is no object', { assistant_id: 'agent', metadata: ['a'] }, /metadata/],
    ['metadata that holds a number', { assistant_id: 'agent', metadata: { a: 1 } }, /metadata/],
    [
      'more than 16 entries of metadata',
      {
        assistant_id: 'agent',
        metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])),
      },
      /metadata/,
    ],
  ])('is refused with a 400 that names the field for %s; nothing is stored', async (_what, body, named) => {
    const { key } = await service.organization();
    const agentId = await service.agent(key);
    const sent = 'assistant_id' in body && body.assistant_id === 'agent' ? { ...body, assistant_id: agentId } : body;

    const answer = await create(key, sent);

    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'bad_request',
      message: expect.stringMatching(named),
    });
    expect(await threadsOf(agentId)).toBe(0);
  });

  it('takes 16 entries of metadata', async () => {
    const { key } = await service.organization();
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, 'v']));
    const answer = await create(key, { assistant_id: await service.agent(key), metadata });
    expect(answer).toMatchObject({ status: 200, body: { metadata } });
  });

  it("answers the same 404 for an unknown agent and for another organization's", async () => {
    const [mine, theirs] = await Promise.all([service.organization(), service.organization()]);
    const foreign = await service.agent(theirs.key);

    const unknown = await create(mine.key, { assistant_id: newId() });
    const other = await create(mine.key, { assistant_id: foreign });

    expect(unknown).toMatchObject({ status: 404, body: { statusCode: 404, error: 'not_found' } });
    expect(other).toMatchObject({ status: 404, body: unknown.body });
    expect(await threadsOf(foreign)).toBe(0);
  });

  it('needs the capability chat, then an agent of the allowlist, then a valid body', async () => {
    const { key, ...organization } = await service.organization();
    const [agentId, other] = [await service.agent(key), await service.agent(key)];
    const lacking = await organization.keyWith(['manageAgents']);
    const excluded = await organization.keyWith(['chat'], [other]);
    const wrong = { assistant_id: agentId, colour: 'red' };

    expect(await create(lacking.key, wrong)).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });
    expect(await create(excluded.key, { ...wrong, assistant_id: newId() })).toMatchObject({ status: 404 });
    expect(await create(excluded.key, wrong)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_agent_allowlist' },
    });
    expect(await create(key, wrong)).toMatchObject({ status: 400 });
    expect(await threadsOf(agentId)).toBe(0);
  });
});

describe('the messages of a thread', () => {
  function read(key: string, threadId: string) {
    return service.http('GET', `/v1/threads/${threadId}/messages`, { key });
  }

  it('are empty at first, then have all their fields', async () => {
    const talk = await Talk.start(service);
    expect((await read(talk.key, talk.threadId)).body).toEqual({ messages: [], truncated: false });
    service.models.next(says('Hello'));
    const { body } = await talk.run('Hi');

    const listed = await read(talk.key, talk.threadId);

    const common = {
      id: expect.any(String),
      thread_id: talk.threadId,
      clientId: null,
      attachments: [],
      createdAt: expect.stringMatching(TIMESTAMP),
      runId: body.run.id,
      status: 'completed',
      components: [],
      reactions: {},
    };
    expect(listed.body).toEqual({
      messages: [
        { ...common, role: 'user', content: 'Hi', toolCalls: [] },
        { ...common, role: 'assistant', content: 'Hello', toolCalls: [] },
      ],
      truncated: false,
    });
  });

  it('answer the same 404 for an unknown thread and for one of another organization', async () => {
    const [mine, theirs] = [await Talk.start(service), await Talk.start(service)];

    const unknown = await read(mine.key, newId());
    const foreign = await read(mine.key, theirs.threadId);

    expect(unknown).toMatchObject({ status: 404, body: { statusCode: 404, error: 'not_found' } });
    expect(foreign).toMatchObject({ status: 404, body: unknown.body });
    expect([...foreign.headers.keys()]).toEqual([...unknown.headers.keys()]);
  });

  it('are refused for a key without chat, and for one whose allowlist lacks the agent', async () => {
    const talk = await Talk.start(service);
    const lacking = await talk.organization.keyWith(['manageAgents']);
    const excluded = await talk.organization.keyWith(['chat'], [await service.agent(talk.key)]);
    expect(await read(lacking.key, talk.threadId)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_key_role' },
    });
    expect(await read(excluded.key, talk.threadId)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_agent_allowlist' },
    });
  });

  it('answer 400 for an id that is not a UUID', async () => {
    const { key } = await service.organization();
    expect(await read(key, 'thread-1')).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining('threadId') },
    });
  });

  it('are the newest 200, oldest first, with `truncated` when there are older ones', async () => {
    const talk = await Talk.start(service);
    const add = (from: number, to: number) =>
      service.database.query(
        `insert into messages (id, organization_id, thread_id, role, content, status, created_at)
         select gen_random_uuid(), $1::uuid, $2::uuid, 'user', 'm' || n, 'completed', now()
         from generate_series($3::int, $4::int) n order by n`,
        [talk.organization.id, talk.threadId, from, to],
      );
    await add(1, 200);
    const whole = await read(talk.key, talk.threadId);
    await add(201, 201);
    const cut = await read(talk.key, talk.threadId);

    const numbered = (from: number) => Array.from({ length: 200 }, (_, index) => ({ content: `m${from + index}` }));
    expect(whole.body).toMatchObject({ truncated: false, messages: numbered(1) });
    expect(cut.body).toMatchObject({ truncated: true, messages: numbered(2) });
  });
});

describe('a message', () => {
  const user = { role: 'user', content: 'Hi' };
  const refused = [
    ['no message', {}, /message/],
    ['a message of another role', { message: { role: 'assistant', content: 'Hi' } }, /role/],
    ['no content', { message: { role: 'user' } }, /content/],
    ['empty content', { message: { role: 'user', content: '' } }, /content/],
    ['content that is no text', { message: { role: 'user', content: [{ type: 'text', text: 'Hi' }] } }, /content/],
    ['an unknown field', { message: user, stream: true }, /stream/],
    ['an unknown field within', { message: { ...user, colour: 'red' } }, /colour/],
    ['userContext that holds an object', { message: user, config: { userContext: { a: {} } } }, /userContext/],
    ['an unknown onDisconnect', { message: user, onDisconnect: 'wait' }, /onDisconnect/],
    ['text that no database can store', { message: { role: 'user', content: 'a\u0000b' } }, /content/],
  ] as const;

  describe.each(['runs', 'runs/stream'])('on %s', (route) => {
    it.each(refused)(
      'is refused with a 400 that names the field for %s; nothing is stored',
      async (_what, body, named) => {
        const talk = await Talk.start(service);
        const answer = await service.http('POST', `${talk.path}/${route}`, { key: talk.key, body });
        expect(answer).toMatchObject({
          status: 400,
          body: {
            statusCode: 400,
            code: 'FST_ERR_VALIDATION',
            error: 'bad_request',
            message: expect.stringMatching(named),
          },
        });
        expect(await talk.messages()).toEqual([]);
        expect(service.models.requests).toEqual([]);
      },
    );

    it('answers the same 404 for an unknown thread and for one of another organization', async () => {
      const [mine, theirs] = [await Talk.start(service), await Talk.start(service)];
      const send = (threadId: string) =>
        service.http('POST', `/v1/threads/${threadId}/${route}`, { key: mine.key, body: { message: user } });
      const [unknown, foreign] = [await send(newId()), await send(theirs.threadId)];
      expect(unknown).toMatchObject({ status: 404, body: { statusCode: 404, error: 'not_found' } });
      expect(foreign).toMatchObject({ status: 404, body: unknown.body });
      expect(await send('thread-1')).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
      expect(await theirs.messages()).toEqual([]);
    });

    it('is refused to a key without chat, and to one whose allowlist lacks the agent', async () => {
      const talk = await Talk.start(service);
      const lacking = await talk.organization.keyWith(['manageAgents']);
      const excluded = await talk.organization.keyWith(['chat'], [await service.agent(talk.key)]);
      const send = (key: string) => service.http('POST', `${talk.path}/${route}`, { key, body: { message: user } });
      expect(await send(lacking.key)).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });
      expect(await send(excluded.key)).toMatchObject({ status: 403, body: { code: 'forbidden_by_agent_allowlist' } });
      expect(await talk.messages()).toEqual([]);
    });
  });

  it('is stored unchanged', async () => {
    const talk = await Talk.start(service);
    const content = '  \t😀 "quoted" \\ line\r\nnext\u2028 end  ';
    service.models.next(says(' spaced ', '\n😀\n '));
    await talk.run(content);
    expect(await talk.lines()).toEqual([`user: ${content}`, 'assistant:  spaced \n😀\n ']);
  });
});
