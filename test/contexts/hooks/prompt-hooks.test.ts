import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { says } from '../../support/scripted-models.js';
import { readEvents } from '../../support/sse.js';
import { statementsOf } from '../../support/statements.js';
import type { Talk } from '../../support/talk.js';
import { group, talkWith, useHookServer, useHookService } from './support.js';

const service = useHookService();
const server = useHookServer();

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

describe('UserPromptSubmit', () => {
  it('is called before the model for every user message, with the complete input', async () => {
    const url = server.url('/asked');
    const talk = await talkWith(service, { UserPromptSubmit: [group([{ type: 'http', url }])] });
    service.models.next(says('Hello'), says('Bye'));
    await talk.run('Hi', { config: { userContext: { plan: 'gold' } } });
    await talk.run('And now?');
    const [first, second] = server.of('/asked');
    expect(first).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hook-event': 'UserPromptSubmit' },
    });
    expect(first?.input).toEqual({
      session_id: talk.threadId,
      hook_event_name: 'UserPromptSubmit',
      agent_id: talk.agentId,
      run_id: (await talk.messages())[0]?.runId,
      user_context: { plan: 'gold' },
      prompt: 'Hi',
    });
    expect(second?.input).toMatchObject({ prompt: 'And now?', user_context: {} });
    expect(server.of('/asked')).toHaveLength(2);
  });

  it('adds every context to the message, in the order of the handlers', async () => {
    const talk = await talkWith(service, {
      UserPromptSubmit: [
        group([{ type: 'http', url: server.url('/first', () => ({ additionalContext: 'It is Monday.' })) }]),
        group([
          {
            type: 'http',
            url: server.url('/second', () => ({ hookSpecificOutput: { additionalContext: 'It rains.' } })),
          },
          { type: 'http', url: server.url('/third') },
        ]),
      ],
    });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi\n\nIt is Monday.\n\nIt rains.' }]);
  });

  it.each([
    ['its reason', { decision: 'block', reason: 'Not on a Sunday.' }, 'Not on a Sunday.'],
    ['a plain sentence when it gives no reason', { decision: 'block' }, expect.stringMatching(/^\S.*\.$/)],
  ])('that blocks ends the run as completed with %s; the model is not called', async (what, output, shown) => {
    const talk = await talkWith(service, {
      UserPromptSubmit: [group([{ type: 'http', url: server.url(`/blocks/${what.length}`, () => output) }])],
    });
    expect(await talk.run('Let me in')).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: shown, blocked: true } },
    });
    expect(service.models.requests).toEqual([]);
  });
});

interface Said {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}
const user = (content: string): Said => ({ role: 'user', content });
const assistant = (content: string): Said => ({ role: 'assistant', content });

interface Replied {
  readonly status: number;
  readonly text: string;
  readonly threadId: string;
}

async function complete(
  talk: Talk,
  messages: readonly Said[],
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Replied> {
  const body = { assistant_id: talk.agentId, messages, ...more };
  const { status, body: answer } = await service.http<Completion>('POST', '/v1/chat/completions', {
    key: talk.key,
    body,
    headers,
  });
  return { status, text: answer.choices[0]?.message.content ?? '', threadId: answer.thread_id };
}

interface Completion {
  readonly thread_id: string;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

async function agUi(talk: Talk, messages: readonly Said[]): Promise<Replied> {
  const input = {
    threadId: randomUUID(),
    runId: randomUUID(),
    messages: messages.map((said) => ({ ...said, id: randomUUID() })),
    tools: [],
    context: [],
    state: {},
  };
  const response = await service.fetch('POST', `/v1/agents/${talk.agentId}/ag-ui`, { key: talk.key, body: input });
  let text = '';
  for await (const { data } of readEvents(response.body ?? raise('no body'))) {
    const event = JSON.parse(data) as { readonly type: string; readonly delta?: string };
    if (event.type === 'TEXT_MESSAGE_CONTENT') text += event.delta ?? '';
  }
  return { status: response.status, text, threadId: response.headers.get('x-thread-id') ?? '' };
}

function raise(why: string): never {
  throw new Error(why);
}

let paths = 0;

/** An agent with a prompt hook that responds to a prompt in this way. */
async function judged(
  answer: (prompt: string) => unknown,
  more: object = {},
): Promise<{ talk: Talk; prompts: () => unknown[]; path: string }> {
  paths += 1;
  const path = `/judged/${paths}`;
  const url = server.url(path, ({ input }) => answer(String(input['prompt'])));
  const talk = await talkWith(service, { UserPromptSubmit: [group([{ type: 'http', url, ...more }])] });
  return { talk, path, prompts: () => server.of(path).map(({ input }) => input['prompt']) };
}

describe.each([
  ['chat completion', complete],
  ['AG-UI input', agUi],
] as const)('the user messages in the history that a %s sends', (_name, send) => {
  it('are each sent to UserPromptSubmit, in their order and before a model reads one', async () => {
    const seen: number[] = [];
    const { talk, prompts, path } = await judged(() => void seen.push(service.models.requests.length));
    service.models.next(says('Three.'));
    const { status, text, threadId } = await send(talk, [user('one'), assistant('1'), user('two'), user('three')]);
    expect([status, text]).toEqual([200, 'Three.']);
    expect(prompts()).toEqual(['one', 'two', 'three']);
    expect(seen).toEqual([0, 0, 0]);
    const [run] = new Set(server.of(path).map(({ input }) => input['run_id']));
    expect(server.of(path).map(({ input }) => [input['session_id'], input['run_id']])).toEqual(
      Array(3).fill([threadId, run]),
    );
  });

  it('block the reply when one of them is blocked: the reply is the reason, no model is called, and no later run gives a model that message or those after it', async () => {
    const { talk, prompts } = await judged((prompt) =>
      prompt === 'bad' ? { decision: 'block', reason: 'Not that.' } : {},
    );
    const messages = [
      user('good'),
      assistant('fine'),
      user('bad'),
      assistant('after the bad'),
      user('unasked'),
      user('last'),
    ];
    const { status, text, threadId } = await send(talk, messages);
    expect([status, text, service.models.requests.length]).toEqual([200, 'Not that.', 0]);
    expect(prompts()).toEqual(['good', 'bad']);

    const path = `/v1/threads/${threadId}`;
    const { body } = await service.http<{ messages: { content: string; blocked?: boolean }[] }>(
      'GET',
      `${path}/messages`,
      { key: talk.key },
    );
    expect(body.messages.map(({ content, blocked = false }) => [content, blocked])).toEqual([
      ...[
        ['good', false],
        ['fine', false],
        ['bad', true],
        ['after the bad', true],
        ['unasked', true],
      ],
      ...[
        ['last', false],
        ['Not that.', true],
      ],
    ]);

    service.models.next(says('Hello.'), says('Bye.'));
    for (const text of ['next', 'and next']) {
      await service.http('POST', `${path}/runs`, { key: talk.key, body: { message: { role: 'user', content: text } } });
      const sent = JSON.stringify(lastBody());
      for (const kept of ['good', 'fine', text]) expect(sent).toContain(kept);
      for (const blocked of ['bad', 'unasked', '"last', 'Not that.']) expect(sent).not.toContain(blocked);
    }
  });
});

describe('history that a request sends', () => {
  it('is blocked when a handler with failClosed fails for it, and not without failClosed', async () => {
    const fail = (prompt: string): unknown => (prompt === 'bad' ? { decision: 'no such decision' } : {});
    const [closed, open] = [await judged(fail, { failClosed: true }), await judged(fail)];
    const messages = [user('bad'), user('last')];
    expect(await complete(closed.talk, messages)).toMatchObject({
      status: 200,
      text: expect.stringContaining('not passed on'),
    });
    expect(service.models.requests).toHaveLength(0);
    service.models.next(says('Hello.'));
    expect(await complete(open.talk, messages)).toMatchObject({ status: 200, text: 'Hello.' });
  });

  it('has the contexts of hooks in its messages, in later runs too', async () => {
    const { talk } = await judged((prompt) => ({ additionalContext: `about ${prompt}` }));
    service.models.next(says('Hello.'), says('Bye.'));
    const { threadId } = await complete(talk, [user('one'), assistant('1'), user('two')]);
    const contexts = ['one\\n\\nabout one', 'two\\n\\nabout two'];
    for (const text of contexts) expect(JSON.stringify(lastBody())).toContain(text);
    await complete(talk, [user('three')], { thread_id: threadId });
    for (const text of [...contexts, 'three\\n\\nabout three']) expect(JSON.stringify(lastBody())).toContain(text);
  });

  it('is checked in its newest 100 messages, and older ones are not given to a model', async () => {
    const { talk, prompts } = await judged(() => ({}));
    const messages = Array.from({ length: 102 }, (_, index) => user(`number-${index}.`));
    service.models.next(says('Hello.'));
    await complete(talk, messages);
    expect(prompts()).toEqual(messages.slice(2).map(({ content }) => content));
    const sent = JSON.stringify(lastBody());
    expect([sent.includes('number-1.'), sent.includes('number-2.'), sent.includes('number-101.')]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('is checked once: hooks are not called again for a repeat under its Idempotency-Key or for messages of the thread', async () => {
    const { talk, prompts } = await judged(() => ({}));
    const named = { 'idempotency-key': randomUUID() };
    service.models.next(says('Hello.'), says('Bye.'));
    const first = await complete(talk, [user('one'), user('two')], {}, named);
    expect(await complete(talk, [user('one'), user('two')], {}, named)).toEqual(first);
    await complete(talk, [user('one'), user('two'), user('three')], { thread_id: first.threadId });
    expect(prompts()).toEqual(['one', 'two', 'three']);
  });

  it('costs one more statement only when hooks add contexts or block', async () => {
    const keepsJudgments = (sql: string): boolean => sql.includes('judged');
    const [without, silent] = [await talkWith(service, {}), (await judged(() => ({}))).talk];
    for (const talk of [without, silent]) {
      service.models.next(says('Hello.'));
      const statements = await statementsOf(service.database, () => complete(talk, [user('one'), user('two')]));
      expect(statements.filter(keepsJudgments)).toEqual([]);
    }
    const { talk } = await judged(() => ({ additionalContext: 'heard' }));
    service.models.next(says('Hello.'));
    const statements = await statementsOf(service.database, () => complete(talk, [user('one'), user('two')]));
    expect(statements.filter(keepsJudgments)).toHaveLength(1);
  });
});

describe('suggestions', () => {
  const suggest = (talk: Talk, messages: readonly Said[]) =>
    service.http<{ suggestions: string[] }>('POST', '/v1/chat/suggestions', {
      key: talk.key,
      body: { assistant_id: talk.agentId, messages },
    });

  it('send only the newest user message to UserPromptSubmit, without thread and run', async () => {
    const { talk, prompts, path } = await judged(() => ({ additionalContext: 'not for suggestions' }));
    service.models.always(says('["How much?", "In red?", "Thank you"]'));
    expect((await suggest(talk, [user('one'), user('two'), assistant('2')])).body.suggestions).toHaveLength(3);
    expect((await suggest(talk, [assistant('Hello')])).body.suggestions).toHaveLength(3);
    expect(prompts()).toEqual(['two']);
    expect(server.of(path)[0]?.input).toEqual({
      ...{ session_id: null, run_id: null, agent_id: talk.agentId, user_context: {} },
      ...{ hook_event_name: 'UserPromptSubmit', prompt: 'two' },
    });
    expect(JSON.stringify(lastBody())).not.toContain('not for suggestions');
  });

  it('are empty when the message is blocked, by a decision or by failClosed, and no model is called', async () => {
    const blocking = await judged(() => ({ decision: 'block', reason: 'Not that.' }));
    const failing = await judged(() => 'no object', { failClosed: true });
    for (const { talk } of [blocking, failing]) {
      expect(await suggest(talk, [user('one')])).toMatchObject({ status: 200, body: { suggestions: [] } });
    }
    expect(service.models.requests).toHaveLength(0);
  });
});
