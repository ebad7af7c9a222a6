import { expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

const service = useService();

/** The roles of a thread's messages and the client's ids of them. */
async function called(talk: Talk, threadId: string): Promise<[string, string | null][]> {
  const { body } = await service.http<{ messages: { role: string; clientId: string | null }[] }>(
    'GET',
    `/v1/threads/${threadId}/messages`,
    { key: talk.key },
  );
  return body.messages.map(({ role, clientId }) => [role, clientId]);
}

it('the id that a client gives its message is read back with it, from runs and streams', async () => {
  const talk = await Talk.start(service);
  const at = `/v1/threads/${talk.threadId}/runs`;
  const body = (id?: string): object => ({
    message: { role: 'user', content: 'Hi', ...(id === undefined ? {} : { id }) },
  });
  service.models.always(says('Hello'));
  const run = await service.http<{ message: { clientId: unknown } }>('POST', at, {
    key: talk.key,
    body: body('mine-1'),
  });
  expect([run.status, run.body.message.clientId]).toEqual([200, null]);
  for await (const { event } of service.stream(`${at}/stream`, { key: talk.key, body: body('😀'.repeat(255)) }))
    expect(event.type).not.toBe('RUN_ERROR');
  await service.http('POST', at, { key: talk.key, body: body() });
  expect(await called(talk, talk.threadId)).toEqual([
    ...[
      ['user', 'mine-1'],
      ['assistant', null],
    ],
    ...[
      ['user', '😀'.repeat(255)],
      ['assistant', null],
    ],
    ...[
      ['user', null],
      ['assistant', null],
    ],
  ]);
  const refused = await service.http('POST', at, { key: talk.key, body: body('x'.repeat(256)) });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('body/message/id')]);
});

it('the id is also read back from chat completions, including the history of a new thread', async () => {
  const talk = await Talk.start(service);
  service.models.always(says('Hello'));
  const messages = [
    { role: 'user', content: 'One', id: 'first' },
    { role: 'assistant', content: 'Two', id: 'of the assistant' },
    { role: 'user', content: 'Three' },
    { role: 'user', content: 'Four', id: 'last' },
  ];
  const ask = (body: object) =>
    service.http<{ thread_id: string }>('POST', '/v1/chat/completions', { key: talk.key, body });
  const { body } = await ask({ assistant_id: talk.agentId, messages });
  const read = [
    ['user', 'first'],
    ['assistant', null],
    ['user', null],
    ['user', 'last'],
    ['assistant', null],
  ];
  expect(await called(talk, body.thread_id)).toEqual(read);
  await ask({
    model: talk.agentId,
    thread_id: body.thread_id,
    messages: [{ role: 'user', content: 'Five', id: 'next' }],
  });
  // The OpenAI API has no such field, so an invalid value is ignored.
  await ask({ model: talk.agentId, thread_id: body.thread_id, messages: [{ role: 'user', content: 'Six', id: 6 }] });
  expect((await called(talk, body.thread_id)).slice(read.length)).toEqual([
    ['user', 'next'],
    ['assistant', null],
    ['user', null],
    ['assistant', null],
  ]);
});

it('the id is also read back from the input of AG-UI, unless it is too long', async () => {
  const talk = await Talk.start(service);
  service.models.always(says('Hello'));
  const threadId = newId();
  const input = { threadId, runId: 'r', state: {}, tools: [], context: [], forwardedProps: {} };
  const messages = [
    { id: 'a-1', role: 'user', content: 'One' },
    { id: 'a-2', role: 'assistant', content: 'Two' },
    { id: 'x'.repeat(256), role: 'user', content: 'Three' },
    { id: 'a-4', role: 'user', content: 'Four' },
  ];
  const response = await service.fetch('POST', `/v1/agents/${talk.agentId}/ag-ui`, {
    key: talk.key,
    body: { ...input, messages },
  });
  expect([response.status, (await response.text()).includes('RUN_FINISHED')]).toEqual([200, true]);
  const own = response.headers.get('x-thread-id') ?? '';
  expect(await called(talk, own)).toEqual([
    ['user', 'a-1'],
    ['assistant', null],
    ['user', null],
    ['user', 'a-4'],
    ['assistant', null],
  ]);
});
