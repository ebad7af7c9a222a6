import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { Chat } from './support.js';

const service = useService();

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
}

const Event = z.object({ name: z.string(), guests: z.array(z.string()).max(2), place: z.string().nullable() });
const VALID = { name: 'Tea', guests: ['Ann'], place: null };
const messages = [{ role: 'user' as const, content: 'Ann comes to tea.' }];
const format = zodResponseFormat(Event, 'event');

describe.each(AGENT_WIRES)('the official OpenAI client, on an agent of $provider', ({ provider, model }) => {
  const start = (): Promise<Chat> => Chat.start(service, { provider: { type: provider, model } });

  it('parses the reply with a zod schema, after one that does not fit', async () => {
    const chat = await start();
    service.models.next(says(JSON.stringify({ ...VALID, guests: ['a', 'b', 'c'] })), says(JSON.stringify(VALID)));
    const completion = await clientOf(chat.key).chat.completions.parse({
      ...{ model: chat.agentId, messages, response_format: format },
    });
    expect(completion.choices[0]?.message.parsed).toEqual(VALID);
    expect(completion.usage).toMatchObject({ prompt_tokens: 22, completion_tokens: 14 });
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('must have at most 2 items');
  });

  it('reads the document in one chunk of a stream', async () => {
    const chat = await start();
    service.models.next(says('{"name": "Tea", ', '"guests": [], "place": null}'));
    const stream = await clientOf(chat.key).chat.completions.create({
      ...{ model: chat.agentId, messages, response_format: format, stream: true },
    });
    const texts: string[] = [];
    for await (const chunk of stream) texts.push(chunk.choices[0]?.delta.content ?? '');
    expect(texts.filter((text) => text !== '')).toEqual(['{"name": "Tea", "guests": [], "place": null}']);
  });

  it('gets 422, and an error chunk on a stream, for two invalid documents', async () => {
    const chat = await start();
    service.models.always(says('{}'));
    const client = clientOf(chat.key);
    const request = { model: chat.agentId, messages, response_format: format };
    await expect(client.chat.completions.create(request)).rejects.toMatchObject({ status: 422 });
    const stream = await client.chat.completions.create({ ...request, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.choices[0]?.delta.content ?? '').toBe('');
    };
    await expect(read()).rejects.toMatchObject({ code: 'invalid_structured_output', type: 'invalid_request_error' });
  });
});

describe('response_format', () => {
  it.each([
    [
      'as OpenAI has it, with fields that are not known',
      { type: 'json_schema', json_schema: { name: 'a', schema: {}, x: 1 }, y: 2 },
      'null',
    ],
    ['with strict null', { type: 'json_schema', json_schema: { name: 'a', schema: {}, strict: null } }, '[1]'],
    ['for any object', { type: 'json_object' }, '{"a":1}'],
    ['for text', { type: 'text' }, 'Hello'],
    ['that is null', null, 'Hello'],
    [
      'with description null',
      { type: 'json_schema', json_schema: { name: 'a', schema: {}, description: null } },
      '[1]',
    ],
  ])('%s is taken', async (_what, response_format, text) => {
    const chat = await Chat.start(service);
    service.models.next(says(text));
    const body = { assistant_id: chat.agentId, messages, response_format };
    const answer = await service.http('POST', '/v1/chat/completions', { key: chat.key, body });
    expect(answer).toMatchObject({ status: 200, body: { choices: [{ message: { content: text } }] } });
  });

  it.each<[string, unknown, string]>([
    ['of another type', { type: 'grammar' }, 'body/response_format/type must be one of text, json_object, json_schema'],
    ['without a schema', { type: 'json_schema', json_schema: { name: 'a' } }, 'json_schema/schema is required'],
    [
      'with an unusable schema',
      { type: 'json_schema', json_schema: { name: 'a', schema: { required: 1 } } },
      'body/response_format/json_schema/schema/required must be a list of strings',
    ],
  ])('%s is refused', async (_what, response_format, message) => {
    const chat = await Chat.start(service);
    const body = { assistant_id: chat.agentId, messages, response_format };
    const answer = await service.http('POST', '/v1/chat/completions', { key: chat.key, body });
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
  });

  it('is sent to OpenAI as its Responses API has it', async () => {
    const chat = await Chat.start(service, { provider: { type: 'openai-responses' } });
    service.models.next(says(JSON.stringify(VALID)));
    await clientOf(chat.key).chat.completions.parse({ model: chat.agentId, messages, response_format: format });
    expect(service.models.requests.at(-1)?.body).toMatchObject({
      text: { format: { type: 'json_schema', name: 'event', strict: true, schema: format.json_schema.schema } },
    });
  });
});

it('a format holds beside tools of the client, and for the completion that answers their calls', async () => {
  const chat = await Chat.start(service);
  const client = clientOf(chat.key);
  const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: { type: 'object' } } }];
  service.models.next(calls('look_up'), says('{}'), says(JSON.stringify(VALID)));
  const request = { model: chat.agentId, messages, tools, response_format: format };
  const called = await client.chat.completions.create(request);
  const [choice] = called.choices;
  const id = choice?.message.tool_calls?.[0]?.id ?? '';
  expect(choice?.finish_reason).toBe('tool_calls');

  const answered = await client.chat.completions.create({
    ...{ model: chat.agentId, tools },
    messages: [...messages, choice?.message as never, { role: 'tool', tool_call_id: id, content: 'Tea' }],
  });

  expect(JSON.parse(answered.choices[0]?.message.content ?? '')).toEqual(VALID);
});
