import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool as aiTool } from 'ai';
import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES, anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { resultOf } from '../../support/client-tools.js';
import type { RunResult } from '../../support/talk.js';
import { assistant, Chat, type Completion, type Said, user } from './support.js';

const service = useService();

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const WEATHER = {
  type: 'function',
  function: { name: 'weather', description: 'The weather.', parameters: PARAMETERS },
};
const MAP = { type: 'function', function: { name: 'map' } };

const OSLO_CALL = {
  id: 'w1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Oslo"}' },
};

const toolResult = (content: unknown, id = 'w1'): Said => ({ role: 'tool', tool_call_id: id, content });
const called = (...tool_calls: readonly object[]): Said => ({ role: 'assistant', content: null, tool_calls });

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
}

function lastRequest(): Record<string, unknown> {
  return service.models.requests.at(-1)?.body as Record<string, unknown>;
}

function toolNames(): string[] {
  return ((lastRequest()['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
}

const lookUp = (id = 'w1', city = 'Oslo'): ReturnType<typeof answers> =>
  answers({ calls: [{ id, name: 'weather', input: { city } }] });

/** A completion that waits for the weather in Oslo. */
async function askForWeather(chat: Chat, more: object = {}): Promise<Completion> {
  service.models.next(lookUp());
  const { status, body } = await chat.complete({
    model: chat.agentId,
    messages: [user('Weather?')],
    tools: [WEATHER],
    ...more,
  });
  expect(status).toBe(200);
  return body;
}

describe.each(AGENT_WIRES)('function calling on an agent of $provider', ({ provider, model }) => {
  it('works through the official client’s runTools, with parallel calls', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    const parallel = [
      { id: 'a', name: 'weather', input: { city: 'Oslo' } },
      { id: 'b', name: 'weather', input: { city: 'Rome' } },
    ];
    service.models.next(answers({ text: 'Let me look.', calls: parallel }), lookUp('c', 'Bonn'), says('All is well.'));
    const asked: string[] = [];

    const runner = clientOf(chat.key).chat.completions.runTools({
      model: chat.agentId,
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [
        {
          type: 'function',
          function: {
            ...{ name: 'weather', description: 'The weather.', parameters: PARAMETERS },
            parse: (json: string) => JSON.parse(json) as { city: string },
            function: ({ city }: { city: string }) => {
              asked.push(city);
              return `rain in ${city}`;
            },
          },
        },
      ],
    });

    expect(await runner.finalContent()).toBe('All is well.');
    expect(asked).toEqual(['Oslo', 'Rome', 'Bonn']);
    const threads = await chat.threads();
    expect(threads).toHaveLength(1);
    expect(JSON.stringify(lastRequest())).toContain('rain in Bonn');
  });

  it('works through the official client’s runTools, streamed', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.next(lookUp(), says('It', ' rains.'));
    const runner = clientOf(chat.key).chat.completions.runTools({
      model: chat.agentId,
      messages: [{ role: 'user', content: 'Weather?' }],
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            ...{ name: 'weather', description: 'The weather.', parameters: PARAMETERS },
            function: (json: string) => `rain for ${json}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It rains.');
    expect(JSON.stringify(lastRequest())).toContain('rain for');
    expect(await chat.threads()).toHaveLength(1);
  });

  it.each(['generateText', 'streamText'])('works through %s of the AI SDK', async (how) => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.next(lookUp(), says('It rains.'));
    const compatible = createOpenAICompatible({ name: 'agents', baseURL: `${service.baseUrl}/v1`, apiKey: chat.key });
    const weather = aiTool({
      description: 'The weather.',
      inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: ({ city }) => ({ sky: `rain in ${city}` }),
    });
    const options = {
      ...{ model: compatible(chat.agentId), prompt: 'Weather?', tools: { weather }, maxRetries: 0 },
      stopWhen: stepCountIs(3),
    };
    const text = how === 'generateText' ? (await generateText(options)).text : await streamText(options).text;
    expect(text).toBe('It rains.');
    expect(JSON.stringify(lastRequest())).toContain('rain in Oslo');
    expect(await chat.threads()).toHaveLength(1);
  });
});

describe('a call of a client’s tool in a chat completion', () => {
  it('is answered as tool_calls, whole and streamed', async () => {
    const chat = await Chat.start(service);
    const body = await askForWeather(chat);
    expect(body.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, tool_calls: [OSLO_CALL] },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ]);

    service.models.next(
      answers({ text: 'Let me look.', calls: [{ id: 'w1', name: 'weather', input: { city: 'Oslo' } }] }),
    );
    const chunks = (await chat.streamed([user('Weather?')], { tools: [WEATHER] })).chunks;
    const deltas = chunks.flatMap(({ choices: [choice] }) => (choice ? [choice] : []));
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe('Let me look.');
    expect(deltas.flatMap(({ delta }) => delta.tool_calls ?? [])).toEqual([{ index: 0, ...OSLO_CALL }]);
    expect(deltas.at(-1)?.finish_reason).toBe('tool_calls');
  });

  it.each(['assistant', 'model'])('is answered by thread_id, in the form %s', async (form) => {
    const chat = await Chat.start(service);
    const { thread_id } = await askForWeather(chat);
    service.models.next(says('It rains.'));
    const named = form === 'model' ? { model: chat.agentId } : { assistant_id: chat.agentId };

    const { status, body } = await chat.complete({ ...named, thread_id, messages: [toolResult('rain')] });

    expect([status, body.thread_id, body.choices[0]?.message.content]).toEqual([200, thread_id, 'It rains.']);
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([{ id: 'w1', output: 'rain' }]);
    expect(toolNames()).toEqual(['weather']);
  });

  it('is answered without thread_id in the thread of the run that waits for it', async () => {
    const chat = await Chat.start(service);
    const { thread_id } = await askForWeather(chat);
    service.models.next(says('It rains.'));
    const messages = [user('Weather?'), called(OSLO_CALL), toolResult([{ type: 'text', text: 'rain' }])];

    const { body } = await chat.complete({ model: chat.agentId, messages, tools: [WEATHER] });

    expect(body.thread_id).toBe(thread_id);
    expect(await chat.lines(thread_id)).toEqual(['user: Weather?', 'assistant: ', 'assistant: It rains.']);
  });

  it('is history of a new thread where no run waits for it, also once it was answered', async () => {
    const chat = await Chat.start(service);
    const { thread_id } = await askForWeather(chat);
    service.models.next(says('It rains.'), says('It rains here too.'));
    const messages = [user('Weather?'), called(OSLO_CALL), toolResult('rain')];
    await chat.complete({ model: chat.agentId, messages, tools: [WEATHER] });

    const { status, body } = await chat.complete({ model: chat.agentId, messages, tools: [WEATHER] });

    expect(status).toBe(200);
    expect(body.thread_id).not.toBe(thread_id);
    expect(body.choices[0]?.message.content).toBe('It rains here too.');
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([{ id: 'w1', output: 'rain' }]);
    expect(await chat.lines(body.thread_id)).toEqual([
      'user: Weather?',
      'assistant: ',
      'assistant: It rains here too.',
    ]);
    service.models.next(says('Still raining.'));
    const { body: next } = await chat.complete({
      ...{ model: chat.agentId, thread_id: body.thread_id, messages: [user('And now?')] },
    });
    expect(next.choices[0]?.message.content).toBe('Still raining.');
    expect(JSON.stringify(lastRequest())).toContain('[The result of the tool weather of the application: rain]');
  });

  it('is not found by another agent or organization, nor where two runs wait for the same id', async () => {
    const chat = await Chat.start(service);
    const { thread_id } = await askForWeather(chat);
    const messages = [user('Weather?'), called(OSLO_CALL), toolResult('rain')];
    const stranger = await Chat.start(service);
    const sibling = await service.agent(chat.key);
    service.models.next(says('One.'), says('Two.'));
    const elsewhere = [
      await stranger.complete({ model: stranger.agentId, messages }),
      await chat.complete({ model: sibling, messages }),
    ];
    for (const { status, body } of elsewhere) {
      expect(status).toBe(200);
      expect(body.thread_id).not.toBe(thread_id);
    }
    const other = await askForWeather(chat);
    service.models.next(says('Three.'));
    const { body } = await chat.complete({ model: chat.agentId, messages });
    expect([thread_id, other.thread_id]).not.toContain(body.thread_id);
    const foreign = await stranger.complete({ model: stranger.agentId, thread_id, messages: [toolResult('rain')] });
    expect(foreign.status).toBe(404);
  });

  it('reads as declined once the user has sent a message instead', async () => {
    const chat = await Chat.start(service);
    const { thread_id } = await askForWeather(chat);
    service.models.next(says('Fine.'));
    await chat.complete({ model: chat.agentId, thread_id, tools: [WEATHER], messages: [user('Never mind')] });
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([
      { output: expect.stringContaining('next message') },
    ]);
    const late = await chat.complete<{ message: string }>({
      ...{ model: chat.agentId, thread_id, messages: [toolResult('rain')] },
    });
    expect([late.status, late.body.message]).toEqual([400, expect.stringContaining('tool_call_id w1 is no open')]);
  });

  it('can be answered over the run’s own route, and the other way round', async () => {
    const chat = await Chat.start(service);
    const { thread_id } = await askForWeather(chat);
    const runs = await service.http<{ messages: { runId: string }[] }>('GET', `/v1/threads/${thread_id}/messages`, {
      key: chat.key,
    });
    const path = `/v1/threads/${thread_id}/runs`;
    const runId = runs.body.messages[0]?.runId ?? '';
    const { body } = await service.http<RunResult>('GET', `${path}/${runId}`, { key: chat.key });
    service.models.next(lookUp('w2'));
    const resume = [resultOf(body.interrupts[0]!, 'rain')];
    const again = await service.http<RunResult>('POST', path, { key: chat.key, body: { resume } });
    expect(again.body.run.status).toBe('requires_action');
    service.models.next(says('Done.'));
    const done = await chat.complete({ model: chat.agentId, thread_id, messages: [toolResult('sun', 'w2')] });
    expect(done.body.choices[0]?.message.content).toBe('Done.');
  });

  it('has a history with several rounds of calls, which the model reads as they were', async () => {
    const chat = await Chat.start(service);
    const rome = { ...OSLO_CALL, id: 'w2', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
    service.models.next(says('Both.'));
    await chat.complete({
      model: chat.agentId,
      tools: [WEATHER],
      messages: [
        ...[user('Weather?'), called(OSLO_CALL, rome), toolResult('sun', 'w2'), toolResult('rain')],
        ...[called({ ...OSLO_CALL, id: 'w3' }), toolResult('still rain', 'w3'), assistant('Rain.'), user('Sure?')],
      ],
    });
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([
      { id: 'w1', output: 'rain' },
      { id: 'w2', output: 'sun' },
      { id: 'w3', output: 'still rain' },
    ]);
  });
});

describe('the tool fields of a chat completion', () => {
  it.each([
    ['required', 'required', { type: 'any' }],
    ['a function', { type: 'function', function: { name: 'map' } }, { type: 'tool', name: 'map' }],
  ])('force the first answer alone with %s', async (_what, tool_choice, sent) => {
    const chat = await Chat.start(service);
    service.models.next(calls('map', {}, 'm1'));
    const { body } = await chat.complete({
      ...{ model: chat.agentId, messages: [user('Where?')], tools: [WEATHER, MAP], tool_choice },
    });
    expect(lastRequest()['tool_choice']).toEqual(sent);
    service.models.next(says('Here.'));
    await chat.complete({
      ...{ model: chat.agentId, thread_id: body.thread_id, tools: [WEATHER, MAP] },
      messages: [toolResult('north', 'm1')],
    });
    expect(lastRequest()['tool_choice']).toBeUndefined();
  });

  it.each([
    ['none', 'none', []],
    ['auto', 'auto', ['weather', 'map']],
    [
      'allowed_tools',
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'map' } }] },
      },
      ['map'],
    ],
  ])('offer the tools that %s lets pass', async (_what, tool_choice, offered) => {
    const chat = await Chat.start(service);
    service.models.next(says('Hello.'));
    const { status } = await chat.complete({
      ...{ model: chat.agentId, messages: [user('Hi')], tools: [WEATHER, MAP], tool_choice },
    });
    expect(status).toBe(200);
    expect(toolNames()).toEqual(offered);
  });

  it('pass on that calls come one at a time', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('Hello.'));
    await chat.complete({
      ...{ model: chat.agentId, messages: [user('Hi')], tools: [WEATHER], parallel_tool_calls: false },
    });
    expect(lastRequest()['tool_choice']).toEqual({ type: 'auto', disable_parallel_tool_use: true });
  });

  it.each([
    ['a custom tool', { tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'body/tools/0/type'],
    ['no function', { tools: [{ type: 'function' }] }, 'body/tools/0/function'],
    ['a bad name', { tools: [{ type: 'function', function: { name: 'a b' } }] }, 'body/tools/0/function/name'],
    ['65 tools', { tools: Array.from({ length: 65 }, () => MAP) }, 'body/tools must have at most 64'],
    ['a name twice', { tools: [MAP, MAP] }, 'name of two tools'],
    [
      'a choice of a tool that is not there',
      { tools: [MAP], tool_choice: { type: 'function', function: { name: 'x' } } },
      'body/tool_choice/function/name',
    ],
    ['a choice without tools', { tool_choice: 'required' }, 'body/tool_choice'],
    ['a custom choice', { tools: [MAP], tool_choice: { type: 'custom', custom: { name: 'x' } } }, 'body/tool_choice'],
    ['an assistant at the end', { messages: [user('Hi'), called(OSLO_CALL)] }, 'body/messages/1/role'],
    [
      'no message of the user',
      { messages: [called(OSLO_CALL), toolResult('x')] },
      'must have a message of the role user',
    ],
    ['a result without a call', { messages: [user('Hi'), toolResult('x')] }, 'body/messages/1/tool_call_id'],
    [
      'a result without an id',
      { messages: [user('Hi'), called(OSLO_CALL), { role: 'tool', content: 'x' }] },
      'tool_call_id',
    ],
    [
      'a picture as result',
      {
        messages: [
          user('Hi'),
          called(OSLO_CALL),
          toolResult([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }]),
        ],
      },
      'body/messages/2',
    ],
    ['too long a result', { messages: [user('Hi'), called(OSLO_CALL), toolResult('x'.repeat(1_000_001))] }, '1000000'],
  ])('are refused with %s, and nothing is stored', async (_what, changes, said) => {
    const chat = await Chat.start(service);
    const refused = await chat.complete<{ message: string }>({
      ...{ model: chat.agentId, messages: [user('Hi')], ...changes },
    });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(said)]);
    expect(await chat.threads()).toEqual([]);
  });
});
