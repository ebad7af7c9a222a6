import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type OfferedTool, ToolSource } from '../../../src/conversations/index.js';
import { startService, useService, until } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { calls, HeldReply, type ModelScript, says } from '../../support/scripted-models.js';
import { assistant, Chat, type Chunk, given, textOf, user } from './support.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

@Injectable()
class ClockTool extends ToolSource {
  offer(): Promise<OfferedTool[]> {
    const definition = { name: 'clock', description: 'The time.', inputSchema: { type: 'object' } };
    return Promise.resolve([
      {
        definition,
        step: 'tool',
        effect: 'read_only',
        call: () => Promise.resolve({ output: 'noon', isError: false }),
      },
    ]);
  }
}

@Module({ providers: [ClockTool], exports: [ClockTool] })
class ClockModule {}

const service = useService({ extensions: { imports: [ClockModule], toolSources: [ClockTool] } });

describe.each(AGENT_WIRES)('a chat completion on $provider', ({ provider, model }) => {
  it('is answered as an object of the OpenAI API, with thread_id', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.next(says('Hello', ' there'));
    const before = Math.floor(Date.now() / 1_000);

    const { status, body, headers } = await chat.ask([user('Hi')]);

    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: chat.agentId,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      thread_id: expect.stringMatching(UUID),
    });
    expect(body.created).toBeGreaterThanOrEqual(before);
    expect(body.created).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000));
    expect(headers.get('x-thread-id')).toBe(body.thread_id);
    expect(await chat.lines(body.thread_id)).toEqual(['user: Hi', 'assistant: Hello there']);
  });

  it('is streamed as chunks of the OpenAI API and [DONE], with the usage on request', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.always(says('Hello', ' there'));

    const plain = await chat.streamed([user('Hi')]);
    const counted = await chat.streamed([user('Hi')], { stream_options: { include_usage: true } });

    const head = {
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: chat.agentId,
    };
    const threadId = plain.headers.get('x-thread-id');
    const chunk = (delta: object, finish_reason: string | null): object => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      thread_id: threadId,
    });
    expect(plain.headers.get('content-type')).toContain('text/event-stream');
    expect(plain.chunks).toEqual([
      chunk({ role: 'assistant', content: '', refusal: null }, null),
      chunk({ content: 'Hello' }, null),
      chunk({ content: ' there' }, null),
      chunk({}, 'stop'),
    ]);
    expect(plain.end).toBe('[DONE]');
    expect(new Set(plain.chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1);
    expect(counted.chunks.slice(0, -1).map(({ usage }) => usage)).toEqual([null, null, null, null]);
    expect(counted.chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect(counted.end).toBe('[DONE]');
  });
});

describe('a chat completion without thread_id', () => {
  it('creates a thread with the given messages as its history, in their order', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('Three'));

    const { body } = await chat.ask([user('One?'), assistant('Two'), user('And then?')]);

    expect(await chat.lines(body.thread_id)).toEqual([
      'user: One?',
      'assistant: Two',
      'user: And then?',
      'assistant: Three',
    ]);
    expect(given(service).messages).toEqual([
      expect.objectContaining({ role: 'user', content: 'One?' }),
      expect.objectContaining({ role: 'assistant', content: [{ type: 'text', text: 'Two' }] }),
      expect.objectContaining({ role: 'user', content: 'And then?' }),
    ]);
    expect(await chat.threads()).toMatchObject([{ id: body.thread_id, title: 'One?' }]);
  });

  it('keeps the order of a long history', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('ok'));
    const history = Array.from({ length: 150 }, (_, index) =>
      index % 2 === 0 ? user(`q${index}`) : assistant(`a${index}`),
    );

    const { body } = await chat.ask([...history, user('last')]);

    const lines = await chat.lines(body.thread_id);
    expect(lines.slice(0, 150)).toEqual(history.map(({ role, content }) => `${String(role)}: ${String(content)}`));
    expect(lines.slice(150)).toEqual(['user: last', 'assistant: ok']);
  });

  it('stores nothing when the agent cannot run', async () => {
    const keyless = await startService({ environment: { ANTHROPIC_API_KEY: '' } });
    try {
      const chat = await Chat.start(keyless);
      for (const stream of [false, true]) {
        const { status, body } = await chat.ask<object>([user('One'), assistant('Two'), user('Three')], { stream });
        expect(status).toBe(422);
        expect(body).toEqual({ error: 'unprocessable_entity', message: expect.stringContaining('anthropic') });
      }
      expect(await chat.threads()).toEqual([]);
      expect(await keyless.database.query('select id from messages')).toEqual([]);
    } finally {
      await keyless.close();
    }
  });
});

describe('a chat completion with thread_id', () => {
  it('uses the stored history and only the last message of the request', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('Blue'));
    const { body: first } = await chat.ask([user('My colour is blue')]);
    service.models.next(says('Blue, still'));

    const { body, headers } = await chat.ask([user('never said'), assistant('never answered'), user('Which colour?')], {
      thread_id: first.thread_id,
    });

    expect(body.thread_id).toBe(first.thread_id);
    expect(headers.get('x-thread-id')).toBe(first.thread_id);
    expect(given(service).messages.map(({ content }) => content)).toEqual([
      'My colour is blue',
      [{ type: 'text', text: 'Blue' }],
      'Which colour?',
    ]);
    expect(await chat.lines(first.thread_id)).toEqual([
      'user: My colour is blue',
      'assistant: Blue',
      'user: Which colour?',
      'assistant: Blue, still',
    ]);
  });

  it('answers the same 404 for a thread of another agent or organization and for an unknown one', async () => {
    const [chat, other] = [await Chat.start(service), await Chat.start(service)];
    const sibling = await service.agent(chat.key, { name: 'Sibling' });
    const threads = [
      await service.thread(chat.key, sibling),
      await service.thread(other.key, other.agentId),
      '01890000-0000-7000-8000-000000000000',
    ];

    const answers = await Promise.all(threads.map((thread_id) => chat.ask<object>([user('Hi')], { thread_id })));

    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body).toEqual(answers[2]?.body);
    }
  });

  it('is refused with thread_busy while a run is under way on the thread', async () => {
    const chat = await Chat.start(service);
    const threadId = await service.thread(chat.key, chat.agentId);
    const held = new HeldReply(['Wait']);
    service.models.next(held.script);
    const running = chat.ask([user('Hi')], { thread_id: threadId });
    await held.asked;

    const { status, body } = await chat.ask<object>([user('Me too')], { thread_id: threadId });

    expect(status).toBe(409);
    expect(body).toMatchObject({ statusCode: 409, code: 'thread_busy', error: 'conflict' });
    held.finish();
    expect((await running).status).toBe(200);
  });
});

describe('the model form, without assistant_id', () => {
  it('takes an agent’s id as the model, puts system and developer messages after the agent’s prompt, reads text parts', async () => {
    const chat = await Chat.start(service, { systemPrompt: 'You are a cook.' });
    service.models.next(says('Soup'));

    const { status, body } = await chat.complete({
      model: chat.agentId,
      messages: [
        { role: 'system', content: 'Answer in French.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        user([
          { type: 'text', text: 'What' },
          { type: 'text', text: 'to eat?' },
        ]),
        { role: 'assistant', content: null },
        user('Now?'),
      ],
      temperature: 0.2,
      tools: [{ type: 'function', function: { name: 'x' } }],
      metadata: { any: 'thing' },
    });

    expect(status).toBe(200);
    expect(given(service).system).toBe('You are a cook.\n\nAnswer in French.\n\nBe brief.');
    expect(await chat.lines(body.thread_id)).toEqual(['user: What\nto eat?', 'user: Now?', 'assistant: Soup']);
  });

  it('refuses sound with the field’s name, before anything is stored', async () => {
    const chat = await Chat.start(service);
    const sound = { type: 'input_audio', input_audio: { data: '', format: 'mp3' } };

    const { status, body } = await chat.complete<object>({ model: chat.agentId, messages: [user([sound])] });

    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'FST_ERR_VALIDATION',
      message: expect.stringContaining('body/messages/0/content/0/type'),
    });
    expect(await chat.threads()).toEqual([]);
  });

  it('answers 400 for a model that is not a UUID, and the same 404 for another organization’s agent and an unknown one', async () => {
    const [chat, other] = [await Chat.start(service), await Chat.start(service)];
    const ask = (model: unknown): Promise<{ status: number; body: object }> =>
      chat.complete<object>({ model, messages: [user('Hi')] });

    for (const model of ['gpt-4o', 7, undefined]) {
      expect(await ask(model)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('assistant_id') },
      });
    }
    const foreign = await ask(other.agentId);
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual((await ask('01890000-0000-7000-8000-000000000000')).body);
  });

  it('counts against the rate limit of the agent that the model names', async () => {
    const chat = await Chat.start(service);
    service.models.always(says('ok'));
    const remaining = async (body: object): Promise<number> =>
      Number((await chat.complete(body)).headers.get('ratelimit-remaining'));

    const first = await remaining({ model: chat.agentId, messages: [user('Hi')] });
    const second = await remaining({ assistant_id: chat.agentId, messages: [user('Hi')] });

    expect(second).toBe(first - 1);
  });

  it('respects the allowlist of the key', async () => {
    const chat = await Chat.start(service);
    const sibling = await service.agent(chat.key, { name: 'Sibling' });
    const { key } = await chat.organization.keyWith(['chat'], [sibling]);

    const body = { model: chat.agentId, messages: [user('Hi')] };
    const answer = await service.http('POST', '/v1/chat/completions', { key, body });

    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden_by_agent_allowlist' } });
  });
});

describe('the run of a completion', () => {
  it.each(['waiting', 'streamed'])('%s: its tools run and never show as tool_calls', async (way) => {
    const chat = await Chat.start(service);
    service.models.next(calls('clock'), says('It is noon'));

    if (way === 'waiting') {
      const { body, text } = await chat.ask([user('What time?')]);
      expect(body.choices[0]).toMatchObject({ message: { content: 'It is noon' }, finish_reason: 'stop' });
      expect(text).not.toContain('tool_calls');
    } else {
      const { chunks } = await chat.streamed([user('What time?')]);
      expect(textOf(chunks)).toBe('It is noon');
      expect(JSON.stringify(chunks)).not.toContain('tool_calls');
    }
    expect(service.models.requests).toHaveLength(2);
  });

  it('shows a reply that the model’s limit cut off as length', async () => {
    const chat = await Chat.start(service);
    const cut: ModelScript = (exchange, wire) =>
      exchange.sendAll(
        wire.text(['Half'], { input: 1, output: 1 }).map((frame) => frame.replace('end_turn', 'max_tokens')),
      );
    service.models.next(cut, cut);

    expect((await chat.ask([user('Hi')])).body.choices[0]).toMatchObject({
      message: { content: 'Half' },
      finish_reason: 'length',
    });
    const { chunks } = await chat.streamed([user('Hi')]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length');
  });

  it('scopes by userContext and echoes it into the trace', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('ok'));
    const userContext = { userId: 'u-1', premium: true, seats: 3 };

    await chat.ask([user('Hi')], { config: { userContext } });

    const { body: list } = await chat.get<{ traces: { id: string }[] }>(`/v1/agents/${chat.agentId}/traces`);
    const trace = await chat.get(`/v1/agents/${chat.agentId}/traces/${list.traces[0]?.id ?? ''}`);
    expect(trace.body).toMatchObject({ userContext, input: 'Hi' });
  });

  it('shows a reply that was cancelled as length, with the text so far', async () => {
    const chat = await Chat.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const chunks: Chunk[] = [];

    for await (const chunk of chat.chunks([user('Hi')])) {
      chunks.push(chunk);
      if (textOf(chunks) !== 'Half' || chunk.choices[0]?.delta.content === undefined) continue;
      const run = `/v1/threads/${chunk.thread_id}/runs/${chunk.id.replace('chatcmpl-', '')}`;
      expect((await service.http('POST', `${run}/cancel`, { key: chat.key })).status).toBe(200);
    }

    expect(textOf(chunks)).toBe('Half');
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'length' });
    held.finish();
  });

  it('continues when the caller disconnects: the reply is in the thread', async () => {
    const chat = await Chat.start(service);
    const held = new HeldReply(['Half'], [' and whole']);
    service.models.next(held.script);
    const leaving = new AbortController();
    const body = { assistant_id: chat.agentId, messages: [user('Hi')], stream: true };
    const response = await service.fetch('POST', '/v1/chat/completions', {
      key: chat.key,
      body,
      signal: leaving.signal,
    });
    await held.asked;
    leaving.abort();
    held.finish();

    const threadId = response.headers.get('x-thread-id') ?? '';
    await until(async () => (await chat.messages(threadId)).length === 2, 'the reply is stored');
    expect(await chat.lines(threadId)).toEqual(['user: Hi', 'assistant: Half and whole']);
  });
});
