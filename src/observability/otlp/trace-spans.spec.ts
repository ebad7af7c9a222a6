import { describe, expect, it } from '@jest/globals';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { newId } from '../../platform/ids/index.js';
import type { PushedTrace, TraceStep } from '../domain/trace.js';
import { PUSHED_CONTENT_BYTES } from '../limits.js';
import { bytesOf, requestParts } from './otlp-exporter.js';
import { traceSpans, type TraceSpan } from './trace-spans.js';

const START = new Date('2026-11-01T12:00:00.123Z');
const START_SECONDS = START.getTime() / 1000 - 0.123;

function step(changes: Partial<TraceStep>): TraceStep {
  return {
    id: newId(),
    type: 'tool',
    name: 'weather',
    startedAt: START.toISOString(),
    latencyMs: 12,
    input: { city: 'canary' },
    output: 'canary',
    error: null,
    ...changes,
  };
}

function trace(changes: Partial<PushedTrace> = {}): PushedTrace {
  return {
    id: newId(),
    organizationId: newId(),
    agentId: newId(),
    threadId: newId(),
    messageId: newId(),
    channel: 'api',
    provider: 'gemini',
    model: 'some-model',
    status: 'completed',
    startedAt: START,
    latencyMs: 60 * 86_400_000 + 1,
    usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18, cachedInputTokens: 8, credits: 0.25 },
    input: 'canary',
    output: 'canary',
    timeToFirstTokenMs: null,
    steps: [],
    error: null,
    userContext: { note: 'canary' },
    agentName: 'Travel desk',
    callerSpan: null,
    ...changes,
  };
}

function stepSpan(of: TraceStep, captureContent = false): TraceSpan {
  const [, span] = traceSpans(trace({ steps: [of] }), captureContent);
  if (!span) throw new Error('no span');
  return span;
}

describe('the spans of a trace', () => {
  it('are always the same, with unique ids', () => {
    const traced = trace({ steps: [step({}), step({}), step({ type: 'model' })] });
    const spans = traceSpans(traced, false);
    expect(traceSpans(traced, false)).toEqual(spans);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
    for (const { traceId, spanId } of spans) {
      expect(traceId).toBe(traced.id.replaceAll('-', ''));
      expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    }
  });

  it('are children of the span that the request named, in its trace', () => {
    const callerSpan = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
    const [run, ...steps] = traceSpans(trace({ callerSpan, steps: [step({}), step({ type: 'model' })] }), false);
    expect(run).toMatchObject({ traceId: callerSpan.traceId, parentSpanId: callerSpan.spanId });
    for (const span of steps) expect(span).toMatchObject({ traceId: callerSpan.traceId, parentSpanId: run?.spanId });
  });

  it('of a model call have the provider’s id of the response, and its model', () => {
    const response = { id: 'resp_1', model: 'some-model-2026-09-01' };
    expect(stepSpan(step({ type: 'model', response })).attributes).toMatchObject({
      'gen_ai.response.id': response.id,
      'gen_ai.response.model': response.model,
    });
    expect(stepSpan(step({ type: 'model', response: { id: null, model: null } })).attributes).not.toHaveProperty([
      'gen_ai.response.id',
    ]);
  });

  it('of a model call have its tokens, and how many of them came from the provider’s cache', () => {
    const usage = { inputTokens: 11, outputTokens: 7, cachedInputTokens: 8 };
    expect(stepSpan(step({ type: 'model', usage })).attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 8,
    });
  });

  it('describe the run, with the conventions’ name of its provider', () => {
    const traced = trace();
    expect(traceSpans(traced, false)).toEqual([
      {
        runId: traced.id,
        traceId: traced.id.replaceAll('-', ''),
        spanId: expect.any(String),
        parentSpanId: undefined,
        name: 'invoke_agent Travel desk',
        kind: SpanKind.INTERNAL,
        startTime: [START_SECONDS, 123_000_000],
        endTime: [START_SECONDS + 60 * 86_400, 124_000_000],
        status: { code: SpanStatusCode.UNSET },
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.provider.name': 'gcp.gemini',
          'gen_ai.request.model': 'some-model',
          'gen_ai.agent.id': traced.agentId,
          'gen_ai.agent.name': 'Travel desk',
          'gen_ai.conversation.id': traced.threadId,
          'gen_ai.usage.input_tokens': 11,
          'gen_ai.usage.output_tokens': 7,
          'gen_ai.usage.cache_read.input_tokens': 8,
          'agent_service.organization.id': traced.organizationId,
          'agent_service.message.id': traced.messageId,
          'agent_service.channel': 'api',
          'agent_service.run.status': 'completed',
          'agent_service.run.credits': 0.25,
        },
      },
    ]);
  });

  it('name the provider whose API runs the model, for agents with models of several providers', () => {
    const named = (changes: Partial<PushedTrace>): unknown =>
      traceSpans(trace(changes), false)[0]?.attributes['gen_ai.provider.name'];
    const provider = 'claude-agent-sdk';
    const models = ['claude-haiku-4-5', 'gpt-5.4', 'gemini-3.6-flash'];
    expect(models.map((model) => named({ provider, model }))).toEqual(['anthropic', 'openai', 'gcp.gemini']);
    expect(named({ provider: 'another' })).toBe('another');
  });

  it.each([
    ['failed', { code: 'provider_error' as const, message: 'canary' }, 'provider_error'],
    ['timed_out', null, 'timed_out'],
  ] as const)('of a run that %s have its error as a type', (status, error, type) => {
    const [span] = traceSpans(trace({ status, error }), false);
    expect(span).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': type } });
    expect(span?.status).not.toHaveProperty('message');
  });

  it('of a tool have the id of the model’s call', () => {
    const call = (id: string, city: string): object => ({ id, name: 'weather', input: { city } });
    const model = step({
      type: 'model',
      output: { text: '', toolCalls: [call('a', 'Oslo'), call('b', 'Rome'), call('c', 'Rome')] },
    });
    const tools = ['Rome', 'Oslo', 'Rome', 'Rome'].map((city) => step({ input: { city } }));
    const [, chat, ...spans] = traceSpans(trace({ steps: [model, ...tools] }), false);
    expect(chat?.attributes['gen_ai.response.finish_reasons']).toEqual(['tool_call']);
    expect(spans.map(({ attributes }) => attributes['gen_ai.tool.call.id'])).toEqual(['b', 'a', 'c', undefined]);
  });

  it.each<[string, Partial<TraceStep>, SpanKind, object]>([
    [
      'retrieval search',
      { type: 'retrieval', name: 'search' },
      SpanKind.INTERNAL,
      { 'gen_ai.operation.name': 'retrieval' },
    ],
    [
      'memory remember',
      { type: 'memory', name: 'remember' },
      SpanKind.INTERNAL,
      { 'agent_service.memory.operation': 'remember' },
    ],
    [
      'memory memory_recall',
      { type: 'memory', name: 'memory_recall', input: null },
      SpanKind.INTERNAL,
      { 'agent_service.memory.operation': 'memory_recall' },
    ],
    [
      'hook PreToolUse',
      {
        type: 'hook',
        name: 'PreToolUse',
        input: { type: 'http', url: 'https://h.example/p?key=canary' },
        output: { outcome: 'ok', verdict: 'canary' },
      },
      SpanKind.CLIENT,
      { 'agent_service.hook.type': 'http', 'server.address': 'h.example', 'agent_service.hook.outcome': 'ok' },
    ],
  ])('have a %s', (name, changes, kind, attributes) => {
    expect(stepSpan(step(changes))).toMatchObject({ name, kind, attributes });
  });

  it('do not describe a recall as a tool call', () => {
    const { attributes } = stepSpan(
      step({ type: 'memory', name: 'memory_recall', input: null, output: { shown: 1 } }),
      true,
    );
    expect(Object.keys(attributes).filter((name) => name.startsWith('gen_ai.'))).toEqual([]);
    expect(attributes['agent_service.memory.recalled']).toBe('{"shown":1}');
  });

  it('have contents only if they are captured', () => {
    const kinds = (['model', 'tool', 'retrieval', 'memory', 'hook'] as const).flatMap((type) => [
      step({ type, error: 'canary' }),
      step({ type, input: 'canary', output: { outcome: 'canary', status: 'canary', text: 'canary' } }),
      step({ type, input: { last: 'canary', query: 'canary', url: 'canary', server: 'canary', tool: 'canary' } }),
    ]);
    const all = trace({ steps: kinds, status: 'failed', error: { code: 'internal', message: 'canary' } });
    expect(JSON.stringify(traceSpans(all, false))).not.toContain('canary');
    for (const span of traceSpans(all, true)) expect(JSON.stringify(span)).toContain('canary');
  });

  it('have the beginning of large contents', () => {
    const { attributes } = stepSpan(step({ input: 'x'.repeat(PUSHED_CONTENT_BYTES + 1), output: 'y' }), true);
    expect(JSON.parse(String(attributes['gen_ai.tool.call.arguments']))).toEqual({
      truncated: true,
      bytes: PUSHED_CONTENT_BYTES + 1,
      preview: 'x'.repeat(PUSHED_CONTENT_BYTES),
    });
  });
});

describe('the parts of a push', () => {
  it('have each span once, in order, and are within the limit', () => {
    const spans = traceSpans(trace({ steps: Array.from({ length: 20 }, () => step({})) }), true);
    const limit = 5 * Math.max(...spans.map(bytesOf));
    const parts = requestParts(spans, limit);
    expect(parts.flat()).toEqual(spans);
    expect(parts.length).toBeLessThan(10);
    for (const part of parts) expect(part.reduce((sum, span) => sum + bytesOf(span), 0)).toBeLessThanOrEqual(limit);
  });
});
