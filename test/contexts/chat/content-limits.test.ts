import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, startService, type TestService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { assistant, Chat, given, type Said, user } from './support.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.models.reset();
  service.models.always(says('["One?", "Two?", "Three?"]'));
});

/** Characters are code points: each of these is two UTF-16 units and four bytes. */
const longest = '😀'.repeat(200_000);
const tooLong = `${longest}!`;
const text = (words: string): object => ({ type: 'text', text: words });
const half = text('x'.repeat(100_000));

const system = (content: string): Said => ({ role: 'system', content, id: 's' });
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

const routes = {
  run: async (chat, [message]) => {
    const threadId = await service.thread(chat.key, chat.agentId);
    return service.http('POST', `/v1/threads/${threadId}/runs`, { key: chat.key, body: { message } });
  },
  stream: async (chat, [message]) => {
    const threadId = await service.thread(chat.key, chat.agentId);
    return service.http('POST', `/v1/threads/${threadId}/runs/stream`, { key: chat.key, body: { message } });
  },
  completion: (chat, messages) => chat.ask<object>(messages),
  openai: (chat, messages) => chat.complete<object>({ model: chat.agentId, messages }),
  suggestions: (chat, messages) =>
    service.http('POST', '/v1/chat/suggestions', { key: chat.key, body: { assistant_id: chat.agentId, messages } }),
  agUi: (chat, messages, more) => {
    const input = { threadId: 't', runId: 'r', messages: messages.map((said) => ({ id: 'm', ...said })), ...more };
    return service.http('POST', `/v1/agents/${chat.agentId}/ag-ui`, { key: chat.key, body: input });
  },
} satisfies Record<string, (chat: Chat, messages: readonly Said[], more?: object) => Promise<Answer<object>>>;

type Route = keyof typeof routes;

const send = (route: Route, chat: Chat, messages: readonly Said[], more?: object): Promise<Answer<object>> =>
  routes[route](chat, messages, more);

async function expectNothingStored(chat: Chat): Promise<void> {
  const rows =
    'select 1 from messages where organization_id = $1 union all select 1 from runs where organization_id = $1';
  expect(await service.database.query(rows, [chat.organization.id])).toEqual([]);
  expect(service.models.requests).toEqual([]);
}

const MESSAGE = 'must be a string of 1 to 200000 characters';

describe('content of 200,000 characters', () => {
  it.each<Route>(['run', 'stream', 'completion', 'openai', 'suggestions', 'agUi'])('is accepted: %s', async (route) => {
    const chat = await Chat.start(service);
    expect((await send(route, chat, [user(longest)])).status).toBe(200);
    expect(JSON.stringify(given(service).messages)).toContain(route === 'suggestions' ? '😀'.repeat(4_000) : longest);
  });
});

describe('content with one character more is a 400 that names it, and nothing is stored', () => {
  it.each<[string, Route, readonly Said[], string]>([
    ['a run', 'run', [user(tooLong)], `body/message/content ${MESSAGE}`],
    ['a streamed run', 'stream', [user(tooLong)], `body/message/content ${MESSAGE}`],
    ['a completion', 'completion', [user('a'), assistant(tooLong), user('b')], `body/messages/1/content ${MESSAGE}`],
    ['a completion’s system message', 'openai', [system(tooLong), user('b')], `body/messages/0/content ${MESSAGE}`],
    ['parts of a completion', 'openai', [user('a'), user([half, half])], `body/messages/1/content ${MESSAGE}`],
    ['suggestions', 'suggestions', [user(tooLong)], `body/messages/0/content ${MESSAGE}`],
    ['AG-UI’s user message', 'agUi', [user('a'), user(tooLong)], `body/messages/1/content ${MESSAGE}`],
    ['parts of AG-UI’s user message', 'agUi', [user([half, half])], `body/messages/0/content ${MESSAGE}`],
    ['AG-UI’s assistant message', 'agUi', [assistant(tooLong), user('b')], `body/messages/0/content ${MESSAGE}`],
    ['AG-UI’s system message', 'agUi', [system(tooLong), user('b')], `body/messages/0/content ${MESSAGE}`],
    [
      'AG-UI’s developer message',
      'agUi',
      [{ ...system(tooLong), role: 'developer' }, user('b')],
      `body/messages/0/content ${MESSAGE}`,
    ],
  ])('%s', async (_what, route, messages, complaint) => {
    const chat = await Chat.start(service);
    const { status, body } = await send(route, chat, messages);
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION', message: complaint } });
    await expectNothingStored(chat);
  });
});

describe('too many elements or characters are a 400 that names them, and nothing is stored', () => {
  const named = 'x'.repeat(256);
  const context = { description: 'd', value: 'v' };

  it.each<[string, Route, readonly Said[], object, string]>([
    [
      'messages of a completion',
      'completion',
      times(1_001, user('a')),
      {},
      'body/messages must have at most 1000 elements',
    ],
    ['messages of AG-UI', 'agUi', times(1_001, user('a')), {}, 'body/messages must have at most 1000 elements'],
    [
      'messages for suggestions',
      'suggestions',
      times(1_001, user('a')),
      {},
      'body/messages must be an array of at most 1000 items',
    ],
    [
      'parts of a completion',
      'openai',
      [user(times(1_001, text('a')))],
      {},
      'body/messages/0/content must have at most 1000 parts',
    ],
    [
      'parts of AG-UI',
      'agUi',
      [user(times(1_001, text('a')))],
      {},
      'body/messages/0/content must have at most 1000 elements',
    ],
    [
      'calls of an AG-UI message',
      'agUi',
      [{ role: 'assistant', toolCalls: times(1_001, 1) }, user('a')],
      {},
      'body/messages/0/toolCalls must',
    ],
    [
      'context',
      'agUi',
      [user('a')],
      { context: times(1_001, context) },
      'body/context must have at most 1000 elements',
    ],
    ['tools', 'agUi', [user('a')], { tools: times(1_001, 1) }, 'body/tools must have at most 64 elements'],
    ['answers', 'agUi', [], { resume: times(1_001, 1) }, 'body/resume must have at most 1000 elements'],
    [
      'instructions of a completion',
      'openai',
      [...times(3, system('x'.repeat(70_000))), user('a')],
      {},
      'body/messages must have at most 200000 characters of instructions',
    ],
    [
      'instructions of AG-UI',
      'agUi',
      [system('x'.repeat(100_000)), user('a')],
      { context: [{ ...context, value: 'x'.repeat(100_000) }] },
      'body/messages and body/context must have at most 200000',
    ],
    [
      'context without a message',
      'agUi',
      [user('a')],
      { context: [{ ...context, value: tooLong }] },
      'body/messages and body/context must',
    ],
    [
      'an id of a run’s message',
      'run',
      [{ ...user('a'), id: named }],
      {},
      'body/message/id must be a string of 1 to 255',
    ],
    [
      'an id of a completion’s message',
      'completion',
      [{ ...user('a'), id: named }],
      {},
      'body/messages/0/id must be a string of 1 to 255',
    ],
    [
      'an id for suggestions',
      'suggestions',
      [{ ...user('a'), id: named }],
      {},
      'body/messages/0/id must be a string of 1 to 255',
    ],
  ])('%s', async (_what, route, messages, more, complaint) => {
    const chat = await Chat.start(service);
    const { status, body } = await send(route, chat, messages, more);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(complaint) },
    });
    await expectNothingStored(chat);
  });

  it('1,000 messages are accepted', async () => {
    const chat = await Chat.start(service);
    for (const route of ['completion', 'agUi', 'suggestions'] as const) {
      expect((await send(route, chat, times(1_000, user('a')))).status).toBe(200);
    }
  });
});

describe('fields of an AG-UI request that are not stored', () => {
  it('may be larger than the limits: earlier results of tools, and state', async () => {
    const chat = await Chat.start(service);
    const messages = [
      user('a'),
      { role: 'assistant', toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: tooLong } }] },
      { role: 'tool', toolCallId: 'c', content: tooLong },
      user('b'),
    ];
    const more = { state: { a: tooLong } };
    expect((await send('agUi', chat, messages, more)).status).toBe(200);
    expect(JSON.stringify(given(service))).not.toContain('😀');
  });
});

describe('the OpenAPI document', () => {
  it('has the limits of content and of the number of messages', async () => {
    const { text: document } = await service.http('GET', '/v1/openapi.json');
    const { components, paths } = JSON.parse(document) as { components: { schemas: object }; paths: object };
    const messages = (items: object): object => ({ properties: { messages: { maxItems: 1_000, ...items } } });
    expect(components.schemas).toMatchObject({
      RunMessageBody: { properties: { content: { maxLength: 200_000 }, id: { maxLength: 255 } } },
      SuggestionMessageBody: { properties: { content: { maxLength: 200_000 }, id: { maxLength: 255 } } },
      SuggestionsBody: messages({}),
      ChatCompletionBody: messages({
        items: {
          properties: {
            content: {
              description: expect.stringContaining('200000'),
              oneOf: [{ type: 'null' }, { maxLength: 1_000_000 }, { maxItems: 1_000 }],
            },
            role: { description: expect.stringContaining('200000') },
          },
        },
      }),
    });
    expect(paths).toMatchObject({
      '/v1/agents/{agentId}/ag-ui': {
        post: {
          requestBody: {
            content: {
              'application/json': { schema: messages({ description: expect.stringContaining('200000') }) },
            },
          },
        },
      },
    });
  });
});
