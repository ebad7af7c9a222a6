import { randomUUID } from 'node:crypto';
import { buildResumeArray, HttpAgent, type Message } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it, jest } from '@jest/globals';
import { NewThreadRepository } from '../../../src/conversations/persistence/new-thread.repository.js';
import { type Answer, message, useService, type StreamedEvent, until } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { answers, breaksOffAfter, HeldReply, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { Chat, given } from './support.js';

const service = useService({ extensions: scriptedRuns });

const userMessage = (content: string): Message => ({ id: randomUUID(), role: 'user', content });

/** AG-UI's own client. */
function clientOf(chat: Chat, options: { threadId?: string; query?: string } = {}): HttpAgent {
  return new HttpAgent({
    url: `${service.baseUrl}/v1/agents/${chat.agentId}/ag-ui${options.query ?? ''}`,
    headers: { authorization: `Bearer ${chat.key}` },
    ...(options.threadId === undefined ? {} : { threadId: options.threadId }),
  });
}

function input(changes: object = {}): object {
  return { threadId: randomUUID(), runId: randomUUID(), messages: [userMessage('Hi')], ...changes };
}

function post(chat: Chat, body: object, key = chat.key): Promise<Answer> {
  return service.http('POST', `/v1/agents/${chat.agentId}/ag-ui`, { key, body });
}

async function events(chat: Chat, body: object): Promise<StreamedEvent['event'][]> {
  const read: StreamedEvent['event'][] = [];
  for await (const { event } of service.stream(`/v1/agents/${chat.agentId}/ag-ui`, { key: chat.key, body })) {
    expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    read.push(event);
  }
  return read;
}

describe.each(AGENT_WIRES)('the official AG-UI client, on an agent of $provider', ({ provider, model }) => {
  it('holds a conversation with a thread id that it chose', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    const client = clientOf(chat, { threadId: randomUUID() });
    service.models.next(says('Hello', ' there'), says('Bye'));

    client.messages = [userMessage('Hi')];
    const first = await client.runAgent();
    client.messages.push(userMessage('Goodbye'));
    await client.runAgent();

    expect(first.newMessages.map(({ role, content }) => ({ role, content }))).toEqual([
      { role: 'assistant', content: 'Hello there' },
    ]);
    expect(client.messages.map(({ content }) => content)).toEqual(['Hi', 'Hello there', 'Goodbye', 'Bye']);
    const threads = await chat.threads();
    expect(threads).toHaveLength(1);
    expect(await chat.lines(threads[0]?.id ?? '')).toEqual([
      'user: Hi',
      'assistant: Hello there',
      'user: Goodbye',
      'assistant: Bye',
    ]);
    const stored = await chat.messages(threads[0]?.id ?? '');
    expect(client.messages[1]?.id).toBe(stored[1]?.id);
  });

  it('gets a request for approval, and resumes with its user’s answer', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model }, ...ASKS_ALWAYS });
    const threadId = await service.thread(chat.key, chat.agentId);
    const pay = new NotingTool('pay');
    during(threadId, { tools: [pay.offered] });
    const client = clientOf(chat, { threadId });
    const asked = [1, 2].map((sum) => ({ id: `c${sum}`, name: 'pay', input: { sum } }));
    service.models.next(answers({ text: 'Shall I?', calls: asked }), says('One is paid.'));

    client.messages = [userMessage('Pay')];
    await client.runAgent();
    const [one, two] = client.pendingInterrupts;
    expect([one?.metadata, two?.metadata]).toEqual(asked.map(({ input }) => ({ tool: 'pay', input })));
    expect(pay.inputs).toEqual([]);

    const resume = buildResumeArray(client.pendingInterrupts, {
      [one?.id ?? '']: { status: 'resolved', payload: { approved: true } },
      [two?.id ?? '']: { status: 'cancelled' },
    });
    const { newMessages } = await client.runAgent({ resume });

    expect(pay.inputs).toEqual([{ sum: 1 }]);
    expect(client.pendingInterrupts).toEqual([]);
    expect(newMessages).toMatchObject([
      { role: 'tool', toolCallId: 'c2', content: expect.stringContaining('declined') },
      { role: 'tool', toolCallId: 'c1', content: 'pay {"sum":1}' },
      { role: 'assistant', content: 'One is paid.' },
    ]);
    const stored = await chat.messages(threadId);
    expect(client.messages.filter(({ role }) => role === 'assistant').map(({ id }) => id)).toEqual([
      stored[1]?.id,
      stored[2]?.id,
    ]);
  });

  it('consumes runs/stream', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    const threadId = await service.thread(chat.key, chat.agentId);
    service.models.next(says('Hello', ' there'));
    const client = new HttpAgent({
      url: `${service.baseUrl}/v1/threads/${threadId}/runs/stream`,
      headers: { authorization: `Bearer ${chat.key}` },
      threadId,
      fetch: (url, init) => fetch(url, { ...init, body: JSON.stringify(message('Hi')) }),
    });

    const { newMessages } = await client.runAgent();

    expect(newMessages).toMatchObject([{ role: 'assistant', content: 'Hello there' }]);
  });
});

describe('POST /v1/agents/{id}/ag-ui', () => {
  it('answers with the client’s ids and the service’s own', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('Hello'));
    const [threadId, runId] = ['my thread', 'my run'];

    const read = await events(chat, input({ threadId, runId }));

    const [thread] = await chat.threads();
    const [, reply] = (await chat.messages(thread?.id ?? '')) as readonly { runId: string }[];
    expect(read[0]).toMatchObject({
      type: 'RUN_STARTED',
      threadId,
      runId,
      metadata: { threadId: thread?.id, runId: reply?.runId },
    });
    expect(read.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      threadId,
      runId,
      outcome: { type: 'success' },
      result: { run: { id: reply?.runId, thread_id: thread?.id }, message: { content: 'Hello' } },
    });
  });

  it('continues a thread of the service by its id', async () => {
    const chat = await Chat.start(service);
    const threadId = await service.thread(chat.key, chat.agentId);
    service.models.next(says('Hello'));

    const client = clientOf(chat, { threadId });
    client.messages = [userMessage('Hi')];
    await client.runAgent();

    expect(await chat.lines(threadId)).toEqual(['user: Hi', 'assistant: Hello']);
    expect(await chat.threads()).toHaveLength(1);
  });

  it('makes the earlier messages the history of a new thread; later runs use the stored history', async () => {
    const chat = await Chat.start(service, { systemPrompt: 'You are a cook.' });
    const threadId = randomUUID();
    service.models.always(says('ok'));
    const before = [
      { id: 's', role: 'system', content: 'Be brief.' },
      { id: 'a', role: 'assistant', content: 'Welcome!' },
    ];
    const context = [{ description: 'The page', value: 'recipes' }];

    await events(chat, input({ threadId, messages: [...before, userMessage('One')], context }));
    expect(given(service).system).toBe('You are a cook.\n\nBe brief.\n\nThe page: recipes');
    await events(chat, input({ threadId, messages: [userMessage('forged'), userMessage('Two')] }));

    const [thread] = await chat.threads();
    expect(await chat.lines(thread?.id ?? '')).toEqual([
      'assistant: Welcome!',
      'user: One',
      'assistant: ok',
      'user: Two',
      'assistant: ok',
    ]);
    expect(JSON.stringify(given(service).messages)).not.toContain('forged');
  });

  it('treats the id of another agent’s thread as any client id, so that a client learns nothing', async () => {
    const [chat, other] = [await Chat.start(service), await Chat.start(service)];
    const sibling = await service.agent(chat.key, { name: 'Sibling' });
    const elsewhere = [await service.thread(other.key, other.agentId), await service.thread(chat.key, sibling)];
    service.models.always(says('ok'));

    for (const threadId of [...elsewhere, randomUUID()]) {
      const read = await events(chat, input({ threadId }));
      expect(read.map(({ type }) => type)).toContain('RUN_FINISHED');
      expect(read[0]).toMatchObject({ threadId });
    }

    expect(await other.messages(elsewhere[0] ?? '')).toEqual([]);
    expect(await chat.messages(elsewhere[1] ?? '')).toEqual([]);
    expect(await chat.threads()).toHaveLength(4);
  });

  it('opens one thread for concurrent first runs: one of them runs, the others are thread_busy', async () => {
    const chat = await Chat.start(service);
    const threadId = randomUUID();
    const held = new HeldReply(['Hello']);
    service.models.next(held.script);

    const refused: Answer[] = [];
    const runs = Array.from({ length: 8 }, async () => {
      const answer = await post(chat, input({ threadId }));
      if (answer.status !== 200) refused.push(answer);
      return answer.status;
    });
    await until(() => refused.length === 7, 'all but one are refused');
    held.finish();

    expect((await Promise.all(runs)).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    for (const { body } of refused) expect(body).toMatchObject({ statusCode: 409, code: 'thread_busy' });
    expect(await chat.threads()).toHaveLength(1);
  });

  it('continues a thread that another request opened after this one had looked it up', async () => {
    const chat = await Chat.start(service);
    const threadId = randomUUID();
    service.models.always(says('ok'));
    await events(chat, input({ threadId }));
    const look = jest.spyOn(service.app.get(NewThreadRepository), 'findByExternalId').mockResolvedValueOnce(null);

    await events(chat, input({ threadId, messages: [userMessage('Two')] }));

    expect(look).toHaveBeenCalledTimes(2);
    look.mockRestore();
    const threads = await chat.threads();
    expect(threads).toHaveLength(1);
    expect(await chat.lines(threads[0]?.id ?? '')).toEqual(['user: Hi', 'assistant: ok', 'user: Two', 'assistant: ok']);
  });

  it('takes the user context from forwardedProps, into the trace', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('ok'));

    await events(chat, input({ forwardedProps: { userContext: { userId: 'u-1' }, theme: 'dark' } }));

    const { body } = await chat.get<{ traces: { id: string }[] }>(`/v1/agents/${chat.agentId}/traces`);
    expect((await chat.get(`/v1/agents/${chat.agentId}/traces/${body.traces[0]?.id ?? ''}`)).body).toMatchObject({
      userContext: { userId: 'u-1' },
    });
    const wrong = await post(chat, input({ forwardedProps: { userContext: { a: [] } } }));
    expect(wrong).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('body/forwardedProps/userContext') },
    });
  });

  it('resumes with a client’s thread id and no message, and declines with a new message', async () => {
    const chat = await Chat.start(service, { ...ASKS_ALWAYS, systemPrompt: 'You are a clerk.' });
    const threadId = randomUUID();
    service.models.next(says('Hello'));
    await events(chat, input({ threadId }));
    const [thread] = await chat.threads();
    const pay = new NotingTool('pay');
    during(thread?.id ?? '', { tools: [pay.offered] });
    const asks = answers({ calls: [{ id: 'c', name: 'pay' }] });
    const interruptsOf = (read: StreamedEvent['event'][]) =>
      (read.at(-1)?.['outcome'] as { interrupts: [{ id: string }] }).interrupts;

    service.models.next(asks, says('Paid.'));
    const first = await events(chat, input({ threadId, messages: [userMessage('Pay')] }));
    expect(first.at(-1)).toMatchObject({ threadId, outcome: { type: 'interrupt' } });
    const system = [{ id: 's', role: 'system', content: 'Be brief.' }];
    const resumed = await events(chat, input({ threadId, messages: system, resume: interruptsOf(first).map(approve) }));
    expect(resumed.at(-1)).toMatchObject({
      threadId,
      outcome: { type: 'success' },
      result: { message: { content: 'Paid.' } },
    });
    expect(given(service).system).toBe('You are a clerk.\n\nBe brief.');
    expect(pay.inputs).toHaveLength(1);

    service.models.next(asks, says('Fine.'));
    const second = await events(chat, input({ threadId, messages: [userMessage('Pay again')] }));
    await events(chat, input({ threadId, messages: [userMessage('No')] }));
    expect(
      await post(chat, input({ threadId, messages: [], resume: interruptsOf(second).map(approve) })),
    ).toMatchObject({ status: 400 });
    expect(pay.inputs).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['no messages', { messages: undefined }, 'body/messages'],
    ['no thread id', { threadId: undefined }, 'body/threadId'],
    ['an empty thread id', { threadId: '' }, 'body/threadId must be 1 to 255'],
    ['a thread id without end', { threadId: 'x'.repeat(256) }, 'body/threadId must be 1 to 255'],
    ['no run id', { runId: undefined }, 'body/runId'],
    ['a last message of the assistant', { messages: [{ id: 'a', role: 'assistant', content: 'Ho' }] }, 'must end with'],
    [
      'the result of a front-end tool on a new thread',
      { messages: [userMessage('Hi'), { id: 't', role: 'tool', toolCallId: 'c', content: 'x' }] },
      'no thread',
    ],
    ['an unknown role', { messages: [{ id: 'x', role: 'robot', content: 'Hi' }] }, 'body/messages/0'],
    [
      'sound',
      {
        messages: [
          {
            id: 'i',
            role: 'user',
            content: [{ type: 'audio', source: { type: 'url', value: 'https://example.com' } }],
          },
        ],
      },
      'body/messages/0/content/0/type must be text, image or document',
    ],
    [
      'an answer to an unknown interrupt',
      { resume: [{ interruptId: randomUUID(), status: 'cancelled' }] },
      'body/resume',
    ],
    [
      'an answer without a payload',
      { resume: [{ interruptId: randomUUID(), status: 'resolved' }] },
      'body/resume/0/payload',
    ],
    [
      'an answer with an unknown field',
      { resume: [{ interruptId: randomUUID(), status: 'resolved', payload: { approved: true, why: 'x' } }] },
      'body/resume/0/payload/why',
    ],
    ['an answer to no UUID', { resume: [{ interruptId: 'i', status: 'cancelled' }] }, 'body/resume/0/interruptId'],
  ])('refuses %s with 400 that names the field, and stores nothing', async (_what, changes, named) => {
    const chat = await Chat.start(service);
    expect(await post(chat, input(changes))).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(named) },
    });
    expect(await chat.threads()).toEqual([]);
  });

  it('answers errors known before the first event as JSON, which the client throws with the status', async () => {
    const [chat, other] = [await Chat.start(service), await Chat.start(service)];
    const foreign = await post(other, input(), chat.key);
    expect(foreign).toMatchObject({ status: 404, body: { error: 'not_found' } });
    const { key } = await chat.organization.keyWith(['manageAgents']);
    expect(await post(chat, input(), key)).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });

    const client = clientOf(chat);
    client.messages = [];
    await expect(client.runAgent()).rejects.toMatchObject({ status: 400 });
  });

  it('ends a run that fails with RUN_ERROR after the text so far, which the client throws', async () => {
    const chat = await Chat.start(service);
    service.models.next(breaksOffAfter('Half'));
    const client = clientOf(chat);
    client.messages = [userMessage('Hi')];
    const errors: string[] = [];

    await client
      .runAgent({}, { onRunErrorEvent: ({ event }) => void errors.push(String(event.code)) })
      .catch(() => undefined);

    expect(errors).toEqual(['provider_error']);
    expect(client.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Half' });
  });
});
