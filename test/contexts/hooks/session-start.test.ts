import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ThreadSessionRepository } from '../../../src/hooks/persistence/thread-session.repository.js';
import { DatabaseUnavailable } from '../../../src/platform/database/index.js';
import { breaksOffAfter, calls, refuses, says } from '../../support/scripted-models.js';
import { Talk, type TraceView } from '../../support/talk.js';
import { connect, customServer, removeIntegration } from '../../support/tool-integrations.js';
import { type ServedTool, ToolServer } from '../../support/tool-server.js';
import { loseNextAnswer } from '../../support/lost-answer.js';
import { until } from '../../support/until.js';
import { group, setHooks, useHookServer, useHookService } from './support.js';
import { sentSystem } from '../../support/sent-system.js';

const service = useHookService();
const endpoint = useHookServer();

/** The result of the tool `profile` in this test. */
let answer: NonNullable<ServedTool['run']>;
let server: ToolServer;

const said = (text: string, isError = false) => ({
  content: text === '' ? [] : [{ type: 'text' as const, text }],
  isError,
});
const contexts = (...given: object[]) => said(JSON.stringify({ contexts: given }));
const PILOT = { name: 'Profile', context: 'The user is a pilot.' };

beforeAll(async () => {
  const inputSchema = { type: 'object' as const, properties: { plan: { type: 'string' } } };
  server = await ToolServer.start(
    'streamableHttp',
    { name: 'profile', inputSchema, run: (input) => answer(input) },
    { name: 'other' },
  );
});
beforeEach(() => {
  server.reset();
  answer = () => contexts(PILOT);
});
afterAll(() => server.close());

interface SessionTrace extends TraceView {
  readonly sessionStartHook?: {
    readonly fetchedAt: string;
    readonly status: string;
    readonly contexts: readonly object[];
  } | null;
}

/** A conversation with an agent whose session-start hook is the tool. */
async function talkWithHook(hook: object = {}, ...organization: string[]): Promise<Talk> {
  const talk = await Talk.start(service, { systemPrompt: 'You are kind.' }, ...organization);
  await connect(service, talk, customServer('CRM', server));
  await setHook(talk, hook);
  return talk;
}

async function setHook(talk: Talk, hook: object = {}): Promise<void> {
  const body = { app: 'CRM', toolName: 'profile', ...hook };
  const { status, text } = await service.http('PUT', `/v1/agents/${talk.agentId}/session-start-hook`, {
    key: talk.key,
    body,
  });
  if (status !== 200) throw new Error(`session-start hook: ${status} ${text}`);
}

const prompts = (): unknown[] => service.models.requests.map(({ body }) => sentSystem(body));
const trace = async (talk: Talk): Promise<SessionTrace> => await talk.trace();

async function traces(talk: Talk): Promise<SessionTrace[]> {
  const path = `/v1/agents/${talk.agentId}/traces`;
  const { body } = await service.http<{ traces: { id: string }[] }>('GET', path, { key: talk.key });
  const all = body.traces.map(({ id }) => service.http<SessionTrace>('GET', `${path}/${id}`, { key: talk.key }));
  return (await Promise.all(all)).map((read) => read.body);
}

describe('the session-start hook', () => {
  it('is called once a thread before the first reply, and its contexts are in the prompt of every run of the thread', async () => {
    const talk = await talkWithHook();
    service.models.always(says('Hello'));
    await talk.run('Hi', { config: { userContext: { plan: 'gold' } } });
    await talk.run('And now?');
    const replica = await service.replica();
    try {
      await talk.on(replica).run('And here?');
    } finally {
      await replica.close();
    }
    expect(server.calls).toEqual([
      { name: 'profile', input: {}, meta: expect.objectContaining({ userContext: { plan: 'gold' } }) },
    ]);
    expect(prompts()).toEqual(Array(3).fill('You are kind.\n\n## Profile\n\nThe user is a pilot.'));
    await (await talk.another()).run('Hi');
    expect(server.calls).toHaveLength(2);
  });

  it.each(['claim', 'end'] as const)(
    'is called once, and its contexts are kept, when the answer of a statement is lost (%s)',
    async (lost) => {
      const talk = await talkWithHook();
      const sessions = service.app.get(ThreadSessionRepository, { strict: false });
      loseNextAnswer(sessions, lost);
      service.models.always(says('Hello'));
      expect((await talk.run('Hi')).body).toMatchObject({ run: { status: 'completed' } });
      await talk.run('And now?');
      expect(server.calls).toHaveLength(1);
      expect(prompts()).toEqual(Array(2).fill('You are kind.\n\n## Profile\n\nThe user is a pilot.'));
    },
  );

  it('is called once, and its contexts are kept, when the database was away as they were stored', async () => {
    const talk = await talkWithHook();
    const sessions = service.app.get(ThreadSessionRepository, { strict: false });
    const spy = jest.spyOn(sessions, 'end').mockRejectedValueOnce(new DatabaseUnavailable(new Error('Away')));
    service.models.always(says('Hello'));
    await talk.run('Hi');
    spy.mockRestore();
    expect(server.calls).toHaveLength(1);
    expect(prompts()).toEqual(['You are kind.\n\n## Profile\n\nThe user is a pilot.']);
    expect(await trace(talk)).toMatchObject({ sessionStartHook: { status: 'ok', contexts: [PILOT] } });
  });

  it('has the same outcome in every trace of the thread, and is a step of the run that called it', async () => {
    const talk = await talkWithHook();
    service.models.always(says('Hello'));
    await talk.run('Hi');
    await talk.run('And now?');
    const [second, first] = await traces(talk);
    expect(first?.sessionStartHook).toEqual({
      fetchedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      status: 'ok',
      contexts: [PILOT],
    });
    expect(second?.sessionStartHook).toEqual(first?.sessionStartHook);
    expect(first?.steps.filter(({ type }) => type === 'hook')).toMatchObject([
      {
        name: 'SessionStart',
        input: { type: 'session_start_hook', server: 'CRM', tool: 'profile' },
        output: { status: 'ok' },
        error: null,
      },
    ]);
    expect(second?.steps.filter(({ type }) => type === 'hook')).toEqual([]);
  });

  it('passes only the static arguments that the tool declares', async () => {
    const talk = await talkWithHook({ staticArgs: { plan: 'gold', secret: 'undeclared' } });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(server.calls).toMatchObject([{ input: { plan: 'gold' } }]);
  });

  it('has a tool that the model is not offered, and cannot call by its name', async () => {
    const talk = await talkWithHook();
    service.models.next(calls('mcp__crm__profile'), says('There is none.'));
    await talk.run('Hi');
    const tools = JSON.stringify(service.models.requests[0]?.body['tools']);
    expect(tools).toContain('mcp__crm__other');
    expect(tools).not.toContain('mcp__crm__profile');
    expect(server.calls).toHaveLength(1);
  });

  it.each([
    [
      'other text is one context of the name of the tool',
      () => said('Likes tea.'),
      [{ name: 'profile', context: 'Likes tea.' }],
    ],
    ['text with a bracket too', () => said('[Note] Likes tea.'), [{ name: 'profile', context: '[Note] Likes tea.' }]],
    ['nothing is none', () => said(''), []],
    ['no contexts are none', () => contexts(), []],
  ])('ends as ok: %s', async (_what, run, expected) => {
    answer = run;
    const talk = await talkWithHook();
    service.models.next(says('Hello'));
    expect((await talk.run('Hi')).body.run.status).toBe('completed');
    expect((await trace(talk)).sessionStartHook).toMatchObject({ status: 'ok', contexts: expected });
  });

  it.each([
    ['an error result', () => said('No such user', true)],
    ['contexts that are no array', () => said('{"contexts": "x"}')],
    ['a context without a name', () => contexts(PILOT, { context: 'x' })],
    ['a context that is no text', () => contexts({ name: 'x', context: 1 })],
    ['more contexts than a prompt has room for', () => contexts(...Array.from({ length: 101 }, () => PILOT))],
    [
      'a tool that throws',
      () => {
        throw new Error('broken');
      },
    ],
  ])('ends as degraded without contexts, and the thread continues: %s', async (_what, run) => {
    answer = run;
    const talk = await talkWithHook();
    service.models.next(says('Hello'));
    expect((await talk.run('Hi')).body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Hello' } });
    expect(prompts()).toEqual(['You are kind.']);
    const { sessionStartHook, steps } = await trace(talk);
    expect(sessionStartHook).toMatchObject({ status: 'degraded', contexts: [] });
    expect(steps.find(({ type }) => type === 'hook')?.error).toMatch(/\w/);
  });

  it.each([
    ['answers too late', { timeoutMs: 50 }, () => new Promise<never>(() => undefined)],
    ['is one that the server does not have', { toolName: 'nothing' }, undefined],
  ])('ends as degraded when the tool %s', async (_what, hook, run) => {
    if (run) answer = run;
    const talk = await talkWithHook(hook);
    service.models.next(says('Hello'));
    expect((await talk.run('Hi')).body.message?.content).toBe('Hello');
    expect((await trace(talk)).sessionStartHook).toMatchObject({ status: 'degraded', contexts: [] });
  });

  it('ends as degraded when the integration was removed, and is not called again', async () => {
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, customServer('CRM', server));
    await setHook(talk);
    await removeIntegration(service, talk, id);
    service.models.always(says('Hello'));
    await talk.run('Hi');
    await connect(service, talk, customServer('CRM', server));
    await talk.run('And now?');
    expect(server.calls).toEqual([]);
    expect((await traces(talk)).map(({ sessionStartHook }) => sessionStartHook?.status)).toEqual([
      'degraded',
      'degraded',
    ]);
  });

  it('is null in traces of an agent that has none, and absent for an organization without the feature, which calls none', async () => {
    const without = await Talk.start(service);
    const forbidden = await talkWithHook({}, '--features', '-session_start_hook');
    service.models.always(says('Hello'));
    await without.run('Hi');
    await forbidden.run('Hi');
    expect((await trace(without)).sessionStartHook).toBeNull();
    expect(await trace(forbidden)).not.toHaveProperty('sessionStartHook');
    expect(server.calls).toEqual([]);
  });

  it('that is set after the first reply is never called on the thread', async () => {
    const talk = await Talk.start(service);
    await connect(service, talk, customServer('CRM', server));
    service.models.always(says('Hello'));
    await talk.run('Hi');
    await setHook(talk);
    await talk.run('And now?');
    await talk.run('And then?');
    expect(server.calls).toEqual([]);
    expect((await trace(talk)).sessionStartHook).toBeNull();
  });

  it('is called by the next run after one that failed before any reply', async () => {
    const talk = await Talk.start(service);
    await connect(service, talk, customServer('CRM', server));
    service.models.next(refuses(400));
    await talk.run('Hi');
    await setHook(talk);
    service.models.next(says('Hello'));
    await talk.run('Hi again');
    expect(server.calls).toHaveLength(1);
    expect((await trace(talk)).sessionStartHook).toMatchObject({ status: 'ok' });
  });

  it('is not called again when the first run failed after it', async () => {
    const talk = await talkWithHook();
    service.models.next(breaksOffAfter('Hel'), says('Hello'));
    await talk.run('Hi');
    await talk.run('Hi again');
    expect(server.calls).toHaveLength(1);
    expect(prompts()).toEqual(Array(2).fill(expect.stringContaining('The user is a pilot.')));
  });

  it('is called once for a conversation that a chat completion sends', async () => {
    const talk = await talkWithHook();
    service.models.always(says('Hello'));
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: 'Who am I?' },
    ];
    const path = '/v1/chat/completions';
    const first = await service.http<{ thread_id: string }>('POST', path, {
      key: talk.key,
      body: { assistant_id: talk.agentId, messages },
    });
    const again = {
      assistant_id: talk.agentId,
      thread_id: first.body.thread_id,
      messages: [{ role: 'user', content: 'And now?' }],
    };
    await service.http('POST', path, { key: talk.key, body: again });
    expect(server.calls).toHaveLength(1);
    expect(prompts()).toEqual(Array(2).fill(expect.stringContaining('The user is a pilot.')));
  });

  it('is removed without changing the contexts of threads that started with it', async () => {
    const talk = await talkWithHook();
    service.models.always(says('Hello'));
    await talk.run('Hi');
    await service.http('DELETE', `/v1/agents/${talk.agentId}/session-start-hook`, { key: talk.key });
    await talk.run('And now?');
    expect(prompts()).toEqual(Array(2).fill(expect.stringContaining('The user is a pilot.')));
    expect((await trace(talk)).sessionStartHook).toMatchObject({ status: 'ok' });
  });
});

describe('SessionStart handlers', () => {
  it('are called once a thread in parallel with the hook, and their contexts follow its contexts in document order', async () => {
    const talk = await talkWithHook();
    const handler = (path: string, context?: string) => ({
      type: 'http',
      url: endpoint.url(path, context === undefined ? undefined : () => ({ additionalContext: context })),
    });
    await setHooks(service, talk, {
      SessionStart: [
        group([handler('/start/1', 'One.')], 'startup'),
        group([handler('/start/2', 'Two.'), handler('/start/3')]),
        group([handler('/start/resume', 'Never.')], 'resume'),
      ],
    });
    service.models.always(says('Hello'));
    await talk.run('Hi');
    await talk.run('And now?');
    expect(prompts()).toEqual(Array(2).fill('You are kind.\n\n## Profile\n\nThe user is a pilot.\n\nOne.\n\nTwo.'));
    expect(endpoint.of('/start/1').map(({ input }) => input)).toMatchObject([
      { hook_event_name: 'SessionStart', source: 'startup' },
    ]);
    expect(endpoint.of('/start/resume')).toEqual([]);
  });
});

describe('two replicas', () => {
  it('that receive the first message at the same time call the hook once', async () => {
    const talk = await talkWithHook();
    service.models.always(says('Hello'));
    const replica = await service.replica();
    try {
      const answers = await Promise.all([talk.run('Hi'), talk.on(replica).run('Hi')]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(server.calls).toHaveLength(1);
    } finally {
      await replica.close();
    }
  });

  it('call it once when the first run is cancelled during the call: the next run waits for the outcome', async () => {
    let finish: (result: ReturnType<typeof said>) => void = () => undefined;
    answer = () => new Promise((resolve) => (finish = resolve));
    const talk = await talkWithHook();
    const first = talk.run('Hi');
    await until(() => server.calls.length === 1, 'the tool is called');
    const run = await talk.storedRun();
    await service.http('POST', `${talk.path}/runs/${run?.id ?? ''}/cancel`, { key: talk.key });
    expect((await first).body.run.status).toBe('cancelled');
    service.models.next(says('Hello'));
    const replica = await service.replica();
    try {
      const second = talk.on(replica).run('Hi again');
      await until(async () => (await talk.storedRun())?.status === 'running', 'the second run is under way');
      finish(contexts(PILOT));
      expect((await second).body.message?.content).toBe('Hello');
    } finally {
      await replica.close();
    }
    expect(server.calls).toHaveLength(1);
    expect(prompts()).toEqual([expect.stringContaining('The user is a pilot.')]);
    expect((await traces(talk)).map(({ sessionStartHook }) => sessionStartHook?.status)).toEqual(['ok', 'ok']);
  });

  it('do not call it again after a process died during the call: the thread continues without contexts', async () => {
    const talk = await talkWithHook();
    await service.database.query(
      `insert into thread_sessions (thread_id, organization_id, run_id, expires_at) values ($1, $2, $1, now() - interval '1 second')`,
      [talk.threadId, talk.organization.id],
    );
    service.models.always(says('Hello'));
    await talk.run('Hi');
    await talk.run('And now?');
    expect(server.calls).toEqual([]);
    expect(prompts()).toEqual(Array(2).fill('You are kind.'));
    expect((await traces(talk)).map(({ sessionStartHook }) => sessionStartHook?.status)).toEqual([
      'degraded',
      'degraded',
    ]);
  });
});

describe('a deleted thread', () => {
  it('leaves no row of its session', async () => {
    const talk = await talkWithHook();
    service.models.next(says('Hello'));
    await talk.run('Hi');
    await service.http('DELETE', talk.path, { key: talk.key });
    expect(await service.database.query('select 1 from thread_sessions where thread_id = $1', [talk.threadId])).toEqual(
      [],
    );
  });
});
