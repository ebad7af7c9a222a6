import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { breaksOffAfter, refuses, says } from '../../support/scripted-models.js';
import { Chat, given } from './support.js';

const service = useService();

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
}

/** The result or error of a call of the client. */
async function thrownBy(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('expected the client to throw');
}

describe.each(AGENT_WIRES)('the official OpenAI client, on an agent of $provider', ({ provider, model }) => {
  it('gets a completion', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.next(says('Hello', ' there'));

    const completion = await clientOf(chat.key).chat.completions.create({
      model: chat.agentId,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hi' },
      ],
    });

    expect(completion.choices[0]?.message.content).toBe('Hello there');
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(completion.usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('Be kind.');
  });

  it('reads a stream with its usage, also through the stream helper', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.always(says('Hello', ' there'));
    const client = clientOf(chat.key);

    const stream = await client.chat.completions.create({
      model: chat.agentId,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    const texts: string[] = [];
    let usage: object | null | undefined;
    for await (const chunk of stream) {
      texts.push(chunk.choices[0]?.delta.content ?? '');
      usage = chunk.usage ?? usage;
    }
    expect(texts.filter((text) => text !== '')).toEqual(['Hello', ' there']);
    expect(usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });

    const helper = client.chat.completions.stream({ model: chat.agentId, messages: [{ role: 'user', content: 'Hi' }] });
    const final = await helper.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe('Hello there');
    expect(final.choices[0]?.finish_reason).toBe('stop');
  });
});

describe('the official OpenAI client', () => {
  it('continues a thread with the extra parameter thread_id', async () => {
    const chat = await Chat.start(service);
    const client = clientOf(chat.key);
    service.models.next(says('Noted'), says('Blue'));
    const first = await client.chat.completions.create({
      model: chat.agentId,
      messages: [{ role: 'user', content: 'Blue' }],
    });
    const threadId = (first as unknown as { thread_id: string }).thread_id;

    const { data, response } = await client.chat.completions
      .create({ model: chat.agentId, messages: [{ role: 'user', content: 'Which?' }], thread_id: threadId } as never)
      .withResponse();

    expect(response.headers.get('x-thread-id')).toBe(threadId);
    expect(data.choices[0]?.message.content).toBe('Blue');
    expect(given(service).messages).toHaveLength(3);
  });

  it('lists and reads agents as models', async () => {
    const chat = await Chat.start(service);
    const client = clientOf(chat.key);

    const page = await client.models.list();

    expect(page.data.map(({ id }) => id)).toEqual([chat.agentId]);
    expect(await client.models.retrieve(chat.agentId)).toMatchObject({ id: chat.agentId, object: 'model' });
  });

  it('throws its own error types for errors before a stream', async () => {
    const chat = await Chat.start(service);
    const client = clientOf(chat.key);
    const ask = (changes: object = {}, stream = false): Promise<unknown> =>
      client.chat.completions.create({
        model: chat.agentId,
        messages: [{ role: 'user', content: 'Hi' }],
        stream,
        ...changes,
      } as never);
    const unknown = '01890000-0000-7000-8000-000000000000';

    for (const stream of [false, true]) {
      expect(await thrownBy(() => ask({ messages: [] }, stream))).toBeInstanceOf(OpenAI.BadRequestError);
      expect(await thrownBy(() => ask({ model: unknown }, stream))).toBeInstanceOf(OpenAI.NotFoundError);
      expect(await thrownBy(() => ask({ thread_id: unknown }, stream))).toBeInstanceOf(OpenAI.NotFoundError);
    }
    const stranger = clientOf('ak_nobody');
    expect(await thrownBy(() => stranger.models.list())).toBeInstanceOf(OpenAI.AuthenticationError);
    const { key } = await chat.organization.keyWith(['manageAgents']);
    const body = { model: chat.agentId, messages: [{ role: 'user' as const, content: 'Hi' }] };
    expect(await thrownBy(() => clientOf(key).chat.completions.create(body))).toBeInstanceOf(
      OpenAI.PermissionDeniedError,
    );
  });

  it('throws its own error types for a run that failed: 422, 503 with Retry-After, 502', async () => {
    const chat = await Chat.start(service, { provider: { type: 'anthropic', useOwnApiKey: true, apiKey: 'own-key' } });
    const client = clientOf(chat.key);
    const ask = (): Promise<unknown> =>
      client.chat.completions.create({ model: chat.agentId, messages: [{ role: 'user', content: 'Hi' }] });

    service.models.next(refuses(401));
    expect(await thrownBy(ask)).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    service.models.next(refuses(429, { 'retry-after': '3600' }));
    const limited = await thrownBy(ask);
    expect(limited).toBeInstanceOf(OpenAI.InternalServerError);
    expect(limited).toMatchObject({ status: 503, code: undefined });
    expect((limited as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('3600');
    service.models.next(breaksOffAfter('Half'));
    expect(await thrownBy(ask)).toMatchObject({ status: 502 });
  });

  it('throws its own error from a stream that has begun, after the text so far', async () => {
    const chat = await Chat.start(service);
    service.models.next(breaksOffAfter('Half'));
    const stream = await clientOf(chat.key).chat.completions.create({
      model: chat.agentId,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
    const texts: string[] = [];

    const thrown = await thrownBy(async () => {
      for await (const chunk of stream) texts.push(chunk.choices[0]?.delta.content ?? '');
    });

    expect(texts.join('')).toBe('Half');
    expect(thrown).toBeInstanceOf(OpenAI.APIError);
    expect(thrown).toMatchObject({ code: 'provider_error', type: 'server_error' });
  });
});

describe('a streamed completion whose run fails', () => {
  it('sends one error event and then [DONE]', async () => {
    const chat = await Chat.start(service);
    service.models.next(breaksOffAfter('Half'));

    const { chunks, end } = await chat.streamed([{ role: 'user', content: 'Hi' }]);

    expect(chunks.filter(({ error }) => error !== undefined)).toEqual([
      { error: { message: expect.any(String), type: 'server_error', code: 'provider_error' } },
    ]);
    expect(chunks.at(-1)?.error).toBeDefined();
    expect(end).toBe('[DONE]');
  });
});
