import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { failureOf, requestOf, callRuntime, textOf } from '../../../../test/support/model-calls.js';
import { PROVIDER_WIRES, type ProviderWire } from '../../../../test/support/provider-wire.js';
import { SystemClock } from '../../../platform/clock/index.js';
import type { ModelMessage, ModelRuntime, ToolDefinition } from '../../domain/model-runtime.js';
import { ModelTransport } from './transport.js';

const LOOK_UP: ToolDefinition = {
  name: 'look_up',
  description: 'Looks a city up.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe.each(PROVIDER_WIRES)('$provider against a mock of its API', (wire: ProviderWire) => {
  let mock: LLMock;
  let transport: ModelTransport;
  let runtime: ModelRuntime;

  beforeAll(async () => {
    mock = new LLMock({ port: 0, logLevel: 'silent' });
    await mock.start();
  });

  afterAll(() => mock.stop());

  beforeEach(() => {
    const clock = new SystemClock();
    transport = new ModelTransport(clock);
    runtime = wire.runtime({ managedKey: undefined, baseUrl: wire.baseUrl(mock.url) }, transport, clock);
  });

  afterEach(async () => {
    await transport.onModuleDestroy();
    mock.clearFixtures();
    mock.clearRequests();
  });

  /** The conversation that the mock received. */
  function received(): { role: string; content: unknown }[] {
    const body = mock.getLastRequest()?.body as { messages?: { role: string; content: unknown }[] } | null;
    return body?.messages ?? [];
  }

  it('streams text and reports the usage', async () => {
    const usage = { input_tokens: 21, output_tokens: 8, promptTokenCount: 21, candidatesTokenCount: 8 };
    mock.onMessage('hello', { content: 'Hello from the other side', usage }, { chunkSize: 5 });
    const outcome = await callRuntime(runtime, requestOf(wire));
    expect(outcome.thrown).toBeUndefined();
    expect(textOf(outcome.events)).toBe('Hello from the other side');
    expect(outcome.events.filter((event) => event.type === 'text').length).toBeGreaterThan(1);
    expect(outcome.events.at(-1)).toMatchObject({
      type: 'stopped',
      reason: 'end',
      usage: { inputTokens: 21, outputTokens: 8 },
    });
  });

  it('sends the system prompt, the whole conversation and the tools', async () => {
    mock.onMessage('second', { content: 'ok' });
    const messages: ModelMessage[] = [
      { role: 'user', text: 'first' },
      { role: 'assistant', text: 'an answer', toolCalls: [] },
      { role: 'user', text: 'second' },
    ];
    await callRuntime(runtime, requestOf(wire, { system: 'Be brief.', messages, tools: [LOOK_UP] }));
    expect(received().map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(JSON.stringify(received())).toMatch(/Be brief\..*first.*an answer.*second/);
    expect(JSON.stringify(mock.getLastRequest()?.body)).toContain('Looks a city up.');
  });

  it('reports a tool call, and sends its result', async () => {
    const toolCalls = [{ id: 'call_7', name: 'look_up', arguments: '{"city":"Paris"}' }];
    mock.on({ userMessage: 'where', hasToolResult: false }, { toolCalls });
    mock.on({ userMessage: 'where', hasToolResult: true }, { content: 'It is in France.' });
    const question: ModelMessage = { role: 'user', text: 'where is it' };
    const first = await callRuntime(runtime, requestOf(wire, { messages: [question], tools: [LOOK_UP] }));
    expect(first.thrown).toBeUndefined();
    const call = first.events.find((event) => event.type === 'tool_call')?.call;
    expect(call).toMatchObject({ name: 'look_up', input: { city: 'Paris' } });
    const stopped = first.events.at(-1);
    if (call === undefined || stopped?.type !== 'stopped') throw new Error('the answer had no call');
    expect(stopped.reason).toBe('tool_calls');

    const messages: ModelMessage[] = [
      question,
      { role: 'assistant', text: '', toolCalls: [call], state: stopped.state },
      { role: 'tool', toolCallId: call.id, toolName: call.name, output: 'France', isError: false },
    ];
    const second = await callRuntime(runtime, requestOf(wire, { messages, tools: [LOOK_UP] }));
    expect(textOf(second.events)).toBe('It is in France.');
    expect(received().map((message) => message.role)).toEqual(['user', 'assistant', 'tool']);
    expect(JSON.stringify(received().at(-1))).toContain('France');
  });

  it.each([
    [429, 'provider_rate_limited', 9],
    [500, 'provider_error', undefined],
    [401, 'provider_auth', undefined],
  ])('a response with %i is %s', async (status, code, retryAfterSeconds) => {
    mock.onMessage('hello', { status, error: { message: 'no' }, retryAfter: 9 });
    const failure = failureOf(await callRuntime(runtime, requestOf(wire)));
    expect({ code: failure.code, retryAfterSeconds: failure.facts.retryAfterSeconds }).toEqual({
      code,
      retryAfterSeconds,
    });
    expect(mock.getRequests()).toHaveLength(1);
  });
});
