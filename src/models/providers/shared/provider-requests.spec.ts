import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream } from '../../../../test/support/fake-upstream.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { requestOf, callRuntime, textOf, type CallOutcome } from '../../../../test/support/model-calls.js';
import { anthropicWire, geminiWire, openaiWire, type ProviderWire } from '../../../../test/support/provider-wire.js';
import { sentSystem } from '../../../../test/support/sent-system.js';
import type { ModelMessage, ResponseFormat } from '../../domain/model-runtime.js';
import { UNKNOWN_USAGE } from '../../domain/model-usage.js';
import type { ModelOptions, ModelRequest } from '../index.js';
import { ModelTransport } from './transport.js';
import { MAX_OUTPUT_TOKENS, THINKING_BUDGET_TOKENS } from '../anthropic/anthropic.request.js';

let upstream: FakeUpstream;
let transport: ModelTransport;
const clock = new ManualClock();

beforeEach(async () => {
  upstream = await FakeUpstream.start();
  transport = new ModelTransport(clock);
});

afterEach(async () => {
  await transport.onModuleDestroy();
  await upstream.close();
});

async function call(
  wire: ProviderWire,
  frames: readonly string[],
  changes: Partial<ModelRequest> = {},
): Promise<CallOutcome> {
  upstream.respond((exchange) => exchange.sendAll(frames));
  const access = { managedKey: undefined, baseUrl: wire.baseUrl(upstream.url) };
  const outcome = await callRuntime(wire.runtime(access, transport, clock), requestOf(wire, changes));
  expect(outcome.thrown).toBeUndefined();
  return outcome;
}

/** The body that a request with these changes sends. */
async function sent(wire: ProviderWire, changes: Partial<ModelRequest>): Promise<Readonly<Record<string, unknown>>> {
  await call(wire, wire.text(['ok']), changes);
  return upstream.requests.at(-1)?.body ?? {};
}

/** The answer of these events, as a message of the conversation. */
function asMessage({ events }: CallOutcome): Extract<ModelMessage, { role: 'assistant' }> {
  const stopped = events.at(-1);
  if (stopped?.type !== 'stopped') throw new Error('the answer did not stop');
  const toolCalls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  return { role: 'assistant', text: textOf(events), toolCalls, state: stopped.state };
}

function result(toolCallId: string, output: string, isError = false): ModelMessage {
  return { role: 'tool', toolCallId, toolName: 'look_up', output, isError };
}

function sse(...events: ({ type: string } & Record<string, unknown>)[]): string[] {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const question: ModelMessage = { role: 'user', text: 'where' };
const call1 = { id: 'c1', name: 'look_up', input: { city: 'Paris' } };
const call2 = { id: 'c2', name: 'look_up', input: { city: 'Rome' } };

describe('anthropic', () => {
  type Options = Extract<ModelOptions, { type: 'anthropic' }>;
  const plain: Options = { type: 'anthropic', thinking: null, temperature: null, webSearch: false };
  const body = (model: string, options: Partial<Options>, showReasoning = false) =>
    sent(anthropicWire, { model, options: { ...plain, ...options }, showReasoning });
  const enabled = (effort: 'low' | 'max') => ({ thinking: { type: 'enabled', effort } }) as const;
  const disabled = { thinking: { type: 'disabled' } } as const;

  it('adaptive models get adaptive thinking and the effort', async () => {
    const request = await body('claude-sonnet-5', enabled('max'));
    expect(request).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } });
    expect(await body('claude-sonnet-5', enabled('low'), true)).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
    });
  });

  it('budget models get a token budget below the token limit, and no effort', async () => {
    const request = await body('claude-haiku-4-5', enabled('max'));
    expect(request['thinking']).toEqual({ type: 'enabled', budget_tokens: THINKING_BUDGET_TOKENS });
    expect(request).not.toHaveProperty('output_config');
    expect(THINKING_BUDGET_TOKENS).toBeLessThan(MAX_OUTPUT_TOKENS);
  });

  it('models that always think get no setting that disables thinking', async () => {
    for (const options of [disabled, {}]) {
      const request = await body('claude-opus-5-5', options);
      expect(request['thinking']).toEqual({ type: 'adaptive' });
      expect(request).not.toHaveProperty('output_config');
    }
  });

  it('disabled and absent mean between_tools for models whose least thinking that is', async () => {
    expect((await body('claude-sonnet-5-5', disabled))['thinking']).toEqual({ type: 'between_tools' });
    expect((await body('claude-sonnet-5-5', {}))['thinking']).toEqual({ type: 'between_tools' });
  });

  it('other models get disabled, or no setting if it is absent', async () => {
    expect((await body('claude-sonnet-5', disabled))['thinking']).toEqual({ type: 'disabled' });
    expect(await body('claude-sonnet-5', {})).not.toHaveProperty('thinking');
  });

  it('the temperature is sent to models that accept it, and not together with thinking', async () => {
    expect((await body('claude-haiku-4-5', { temperature: 0.3 }))['temperature']).toBe(0.3);
    expect((await body('claude-sonnet-4-6', { temperature: 0 }))['temperature']).toBe(0);
    expect(await body('claude-sonnet-5-5', { temperature: 0.3 })).not.toHaveProperty('temperature');
    expect(await body('claude-haiku-4-5', { temperature: 0.3, ...enabled('low') })).not.toHaveProperty('temperature');
  });

  it('web search is a tool that the provider executes', async () => {
    expect((await body('claude-sonnet-5-5', { webSearch: true }))['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search' },
    ]);
    expect(await body('claude-sonnet-5-5', {})).not.toHaveProperty('tools');
  });

  it('results of parallel calls are sent in one message, failed ones marked', async () => {
    const answer: ModelMessage = { role: 'assistant', text: ' ', toolCalls: [call1, call2] };
    const messages = [question, answer, result('c1', 'France'), result('c2', 'down', true)];
    expect((await sent(anthropicWire, { messages }))['messages']).toEqual([
      { role: 'user', content: 'where' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', ...call1 },
          { type: 'tool_use', ...call2 },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'France' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'down', is_error: true },
        ],
      },
    ]);
  });

  const thinking = { type: 'thinking', thinking: 'Let me see.', signature: 'sig-1' };
  const thoughtful = sse(
    { type: 'message_start', message: { usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Let me ' } },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'see.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig-1' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', ...call1, input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"city":"Paris"}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  );

  it('signed thinking is returned unchanged, only to the same model', async () => {
    const outcome = await call(anthropicWire, thoughtful);
    expect(outcome.events.filter((event) => event.type === 'reasoning').map((event) => event.text)).toEqual([
      'Let me ',
      'see.',
    ]);
    expect(outcome.events.at(-1)).toMatchObject({ usage: { inputTokens: 12, outputTokens: 9 } });
    // As the database returns it.
    const stored = JSON.parse(JSON.stringify(asMessage(outcome))) as ModelMessage;
    const messages = [question, stored, result('c1', 'France')];
    const same = (await sent(anthropicWire, { messages }))['messages'] as { content: unknown }[];
    expect(same[1]?.content).toEqual([thinking, { type: 'tool_use', ...call1 }]);
    const other = (await sent(anthropicWire, { messages, model: 'claude-sonnet-5' }))['messages'] as typeof same;
    expect(other[1]?.content).toEqual([{ type: 'tool_use', ...call1 }]);
  });

  it('a paused response is continued, and reported as one response', async () => {
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} };
    const paused = sse(
      { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: search },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"x"}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'pause_turn' }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    );
    const found = anthropicWire.text(['Found.'], { input: 6, output: 2 });
    upstream.respond((exchange) => exchange.sendAll(upstream.requests.length === 1 ? paused : found));
    const access = { managedKey: undefined, baseUrl: upstream.url };
    const outcome = await callRuntime(anthropicWire.runtime(access, transport, clock), requestOf(anthropicWire));
    expect(outcome.thrown).toBeUndefined();
    expect(textOf(outcome.events)).toBe('Found.');
    expect(outcome.events.at(-1)).toMatchObject({ reason: 'end', usage: { inputTokens: 11, outputTokens: 6 } });
    expect((upstream.requests[1]?.body['messages'] as unknown[]).at(-1)).toEqual({
      role: 'assistant',
      content: [{ ...search, input: { query: 'x' } }],
    });
  });

  it('a refusal stops with refusal', async () => {
    const frames = anthropicWire.text(['No.']).map((frame) => frame.replace('end_turn', 'refusal'));
    expect((await call(anthropicWire, frames)).events.at(-1)).toMatchObject({ reason: 'refusal' });
  });
});

describe('openai-responses', () => {
  it('stores nothing at the provider and asks for encrypted reasoning', async () => {
    const request = await sent(openaiWire, { system: 'Be brief.' });
    expect(request).toMatchObject({
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      instructions: 'Be brief.',
    });
    expect(request).not.toHaveProperty('reasoning');
    expect(request).not.toHaveProperty('text');
  });

  it('the request has the effort and the verbosity', async () => {
    const options = { type: 'openai-responses', reasoningEffort: 'xhigh', verbosity: 'low' } as const;
    expect(await sent(openaiWire, { options, showReasoning: true })).toMatchObject({
      reasoning: { effort: 'xhigh', summary: 'auto' },
      text: { verbosity: 'low' },
    });
  });

  it('encrypted reasoning is returned unchanged, only to the same model', async () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' };
    const written = { type: 'function_call', call_id: 'c1', name: 'look_up', arguments: '{"city":"Paris"}' };
    const functionCall = { ...written, id: 'fc_1' };
    const done = { id: 'r', status: 'completed', output: [], usage: { input_tokens: 3, output_tokens: 4 } };
    const outcome = await call(
      openaiWire,
      sse(
        { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' },
        { type: 'response.output_item.done', output_index: 0, item: reasoning },
        { type: 'response.output_item.added', output_index: 1, item: { ...functionCall, arguments: '' } },
        { type: 'response.output_item.done', output_index: 1, item: functionCall },
        { type: 'response.completed', response: done },
      ),
    );
    expect(outcome.events.at(0)).toEqual({ type: 'reasoning', text: 'Hm.' });
    const messages = [question, asMessage(outcome), result('c1', 'down', true)];
    const output = { type: 'function_call_output', call_id: 'c1', output: 'Error: down' };
    expect((await sent(openaiWire, { messages }))['input']).toEqual([
      { role: 'user', content: 'where' },
      reasoning,
      functionCall,
      output,
    ]);
    expect((await sent(openaiWire, { messages, model: 'gpt-5.4' }))['input']).toEqual([
      { role: 'user', content: 'where' },
      written,
      output,
    ]);
  });
});

describe('gemini', () => {
  const frame = (parts: unknown[], finishReason?: string) =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, finishReason }] })}\n\n`;

  it('asks for thoughts only to show them', async () => {
    expect(await sent(geminiWire, {})).not.toHaveProperty('generationConfig.thinkingConfig');
    expect(await sent(geminiWire, { showReasoning: true })).toHaveProperty(
      'generationConfig.thinkingConfig.includeThoughts',
      true,
    );
    expect(upstream.requests[0]?.path).toBe('/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse');
  });

  it('signatures are returned with their parts; thoughts and local ids are not sent', async () => {
    const signed = { functionCall: { name: 'look_up', args: { city: 'Paris' } }, thoughtSignature: 'c2ln' };
    const outcome = await call(geminiWire, [
      frame([{ text: 'Hm.', thought: true }]),
      frame([{ text: 'I look ' }]),
      frame([{ text: 'it up.' }]),
      frame([signed]),
      frame([], 'STOP'),
    ]);
    expect(outcome.events.at(0)).toEqual({ type: 'reasoning', text: 'Hm.' });
    const answer = asMessage(outcome);
    expect(answer.toolCalls[0]?.id).toMatch(/^local_/);
    const messages = [question, answer, result(answer.toolCalls[0]?.id ?? '', 'France')];
    expect((await sent(geminiWire, { messages }))['contents']).toEqual([
      { role: 'user', parts: [{ text: 'where' }] },
      { role: 'model', parts: [{ text: 'I look it up.' }, signed] },
      { role: 'user', parts: [{ functionResponse: { name: 'look_up', response: { output: 'France' } } }] },
    ]);
  });

  it('a call without a signature has the replacement that the API accepts', async () => {
    const answer: ModelMessage = { role: 'assistant', text: '', toolCalls: [call1, call2] };
    const messages = [question, answer, result('c1', 'France'), result('c2', 'down', true)];
    expect((await sent(geminiWire, { messages }))['contents']).toEqual([
      { role: 'user', parts: [{ text: 'where' }] },
      {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'c1', name: 'look_up', args: { city: 'Paris' } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: 'c2', name: 'look_up', args: { city: 'Rome' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'look_up', response: { output: 'France' } } },
          { functionResponse: { id: 'c2', name: 'look_up', response: { error: 'down' } } },
        ],
      },
    ]);
  });

  it('a blocked prompt and a blocked answer are refusals', async () => {
    const blocked = `data: ${JSON.stringify({ promptFeedback: { blockReason: 'SAFETY' } })}\n\n`;
    expect((await call(geminiWire, [blocked])).events).toEqual([
      { type: 'stopped', reason: 'refusal', usage: UNKNOWN_USAGE },
    ]);
    expect((await call(geminiWire, [frame([{ text: 'a' }], 'SAFETY')])).events.at(-1)).toMatchObject({
      reason: 'refusal',
    });
  });

  it('a wrong key is provider_auth although the API answers 400, and RetryInfo counts as Retry-After', async () => {
    const runtime = geminiWire.runtime({ managedKey: undefined, baseUrl: upstream.url }, transport, clock);
    upstream.respond((exchange) =>
      exchange.refuse(400, { error: { code: 400, details: [{ reason: 'API_KEY_INVALID' }] } }),
    );
    expect((await callRuntime(runtime, requestOf(geminiWire))).thrown).toMatchObject({ code: 'provider_auth' });
    upstream.respond((exchange) => exchange.refuse(429, { error: { details: [{ retryDelay: '17.2s' }] } }));
    expect((await callRuntime(runtime, requestOf(geminiWire))).thrown).toMatchObject({
      facts: { retryAfterSeconds: 18 },
    });
  });
});

describe('a response format', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] };
  const format = { type: 'json_schema', name: 'n', schema, strict: false } as const;
  const map = { ...format, schema: { type: 'object', additionalProperties: { type: 'string' } } };
  const anyObject = { type: 'json_object' } as const;
  const of = (wire: ProviderWire, responseFormat: ResponseFormat) => sent(wire, { responseFormat, system: 'Hi.' });

  it('is enforced by Anthropic, without the keywords that it refuses', async () => {
    const body = await of(anthropicWire, format);
    const enforced = { ...schema, properties: { a: { type: 'integer', description: '{minimum: 1}' } } };
    expect(body['output_config']).toEqual({
      format: { type: 'json_schema', schema: { ...enforced, additionalProperties: false } },
    });
    expect(sentSystem(body)).toBe('Hi.');
  });

  it.each([
    ['a map', map, '"additionalProperties":{"type":"string"}'],
    ['any object', anyObject, 'The document must be a JSON object.'],
  ])('that Anthropic cannot enforce (%s) is part of the prompt', async (_what, given, text) => {
    const body = await of(anthropicWire, given);
    expect(body).not.toHaveProperty('output_config');
    expect(sentSystem(body)).toContain(text);
  });

  it('is sent to OpenAI as it is, and strict only if the caller asks for it', async () => {
    const text = async (given: ResponseFormat) => (await of(openaiWire, given))['text'];
    expect(await text(format)).toEqual({ format });
    expect(await text({ ...format, strict: true, description: 'D' })).toEqual({
      format: { ...format, strict: true, description: 'D' },
    });
    const body = await of(openaiWire, anyObject);
    expect(body['text']).toEqual({ format: anyObject });
    expect(sentSystem(body)).toContain('JSON');
  });

  it('is sent to Gemini as the type and schema of its response', async () => {
    expect((await of(geminiWire, format))['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    const body = await of(geminiWire, anyObject);
    expect(body['generationConfig']).toEqual({ responseMimeType: 'application/json' });
    expect(sentSystem(body)).toContain('The document must be a JSON object.');
  });
});

it.each<[string, ProviderWire, string[]]>([
  [
    'anthropic',
    anthropicWire,
    [
      sse({ type: 'message_start', message: { id: 'answer-1', model: 'dated' } })[0] ?? '',
      ...anthropicWire.text(['ok']).slice(1),
    ],
  ],
  [
    'openai',
    openaiWire,
    [
      sse({ type: 'response.created', response: { id: 'answer-1', model: 'dated' } })[0] ?? '',
      ...openaiWire.text(['ok']).slice(1),
    ],
  ],
  [
    'gemini',
    geminiWire,
    geminiWire
      .text(['ok'])
      .map((frame) => frame.replace('data: {', 'data: {"responseId":"answer-1","modelVersion":"dated",')),
  ],
])(
  '%s reports the provider’s id of the answer and the model that writes it, once and before the text',
  async (_provider, wire, frames) => {
    const { events } = await call(wire, frames);
    const outcome = { type: 'response', response: { id: 'answer-1', model: 'dated' } };
    expect(events.filter(({ type }) => type === 'response')).toEqual([outcome]);
    expect(events.findIndex(({ type }) => type === 'response')).toBeLessThan(
      events.findIndex(({ type }) => type === 'text'),
    );
  },
);
