import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { assistant, Chat, user } from './support.js';

const service = useService();

const many = (count: number, item: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => item(at)).join(',');

/** A history with one call for each of these arguments. */
function called(...args: readonly string[]): object[] {
  const calls = args.map((json, at) => ({ id: `c${at}`, type: 'function', function: { name: 'f', arguments: json } }));
  return [user('Hi'), { role: 'assistant', content: null, tool_calls: calls }, user('And?')];
}

describe('an invalid chat completion', () => {
  it.each<[string, object, string]>([
    ['no messages', { messages: undefined }, 'body/messages is required'],
    ['an empty list', { messages: [] }, 'body/messages must have at least 1'],
    ['a message that is no object', { messages: ['Hi'] }, 'body/messages/0 must be an object'],
    [
      'a last message of the assistant',
      { messages: [user('Hi'), assistant('Ho')] },
      'body/messages/1/role must be user',
    ],
    [
      'an unknown role',
      { messages: [{ role: 'critic', content: 'x' }] },
      'body/messages/0/role must be one of: user, assistant',
    ],
    ['a system message', { messages: [{ role: 'system', content: 'x' }, user('Hi')] }, 'body/messages/0/role'],
    ['an empty message', { messages: [user('')] }, 'body/messages/0/content'],
    ['content parts', { messages: [user([{ type: 'text', text: 'Hi' }])] }, 'body/messages/0/content must be a string'],
    ['an empty id', { messages: [{ ...user('Hi'), id: '' }] }, 'body/messages/0/id'],
    [
      'an attachment without its type',
      { messages: [{ ...user('Hi'), attachments: [{ name: 'a', url: 'https://example.com' }] }] },
      'body/messages/0/attachments/0/contentType is required',
    ],
    ['a stream that is no boolean', { stream: 'yes' }, 'body/stream'],
    ['a thread id that is no UUID', { thread_id: 'mine' }, 'body/thread_id must be a UUID'],
    ['an assistant id that is no UUID', { assistant_id: 'mine' }, 'body/assistant_id must be a UUID'],
    [
      'arguments of a call that are nested too deeply',
      { messages: called(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) },
      'body/messages/1/tool_calls/0/function/arguments must not be nested more than 64 levels deep',
    ],
    [
      'arguments of calls with too many names',
      { messages: called(...[0, 1].map((call) => `{${many(5_001, (at) => `"n${call}_${at}":1`)}}`)) },
      'body/messages/1/tool_calls/1/function/arguments must not have more than 10000 different',
    ],
    [
      'arguments of calls with too many values',
      { messages: called(...[0, 1].map(() => `{"a":[${many(100_000, () => '1')}]}`)) },
      'body/messages/1/tool_calls/1/function/arguments must not have more than 200000 values',
    ],
    ['an unknown field in config', { config: { user: {} } }, 'body/config/user is not allowed'],
    ['a user context of objects', { config: { userContext: { a: {} } } }, 'body/config/userContext/a'],
  ])('%s: 400 FST_ERR_VALIDATION that names the field', async (_what, changes, named) => {
    const chat = await Chat.start(service);

    const { status, body } = await chat.ask<object>([user('Hi')], changes);

    expect(status).toBe(400);
    expect(body).toEqual({
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'bad_request',
      message: expect.stringContaining(named),
    });
    expect(service.models.requests).toEqual([]);
  });

  it('with unknown fields is answered', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('ok'));
    const unknown = { n: 1, user: 'u', seed: 7, stream_options: { chunk_size: 3 }, stream: null };
    expect((await chat.ask([{ ...user('Hi'), name: 'Ada' }], unknown)).status).toBe(200);
  });
});
