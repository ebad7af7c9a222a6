import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { assistant, Chat, user } from './support.js';

const service = useService();

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
      { messages: [{ role: 'tool', content: 'x' }] },
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
