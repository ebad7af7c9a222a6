import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Attributes, type HrTime, SpanKind, type SpanStatus, SpanStatusCode } from '@opentelemetry/api';
import { apiOf, PROVIDER_TYPES, type ProviderType } from '../../models/index.js';
import type { PushedTrace, Trace, TraceStep } from '../domain/trace.js';
import {
  contentText,
  fieldsOf,
  inputMessages,
  outputMessages,
  textOf,
  type ToolCall,
  toolCallsOf,
} from './span-contents.js';

export interface TraceSpan {
  readonly runId: string;
  /** 32 hexadecimal digits: the id of the caller's trace if the request named one, else the run's id without dashes. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Of a step: the span of the run. Of a run: the caller's span, or undefined. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
}

/** Absent values make no attribute. */
type Facts = Readonly<Record<string, string | number | string[] | null | undefined>>;

interface StepFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly errorType: string;
  readonly facts: Facts;
  /** Only with `captureContent`. */
  readonly contents: () => Facts;
}

const TYPES: ReadonlySet<string> = new Set(PROVIDER_TYPES);

/**
 * A run and its steps as spans of OpenTelemetry's GenAI conventions: first the run, then the steps as its children. The run is a child
 * of the span that its request named. The same trace always makes the same spans and ids. Attributes that the conventions do not
 * define are named `agent_service.*`.
 * @param captureContent false to leave out all content of users, models, tools, pages and hooks
 */
export function traceSpans(trace: PushedTrace, captureContent: boolean): TraceSpan[] {
  const { id: runId, callerSpan } = trace;
  const traceId = callerSpan?.traceId ?? runId.replaceAll('-', '').toLowerCase();
  const parentSpanId = spanIdOf(runId);
  const calls = new PendingCalls();
  return [
    runSpan(trace, traceId, captureContent),
    ...trace.steps.map((step) => {
      const { name, kind, errorType, facts, contents } = describe(step, trace, calls);
      return {
        ...{ runId, traceId, spanId: spanIdOf(`${runId}/${step.id}`), parentSpanId, name, kind },
        ...times(Date.parse(step.startedAt), step.latencyMs),
        status: status(step.error !== null, captureContent ? step.error : null),
        attributes: present({
          'agent_service.step.type': step.type,
          'error.type': step.error === null ? null : errorType,
          ...facts,
          ...(captureContent ? contents() : {}),
        }),
      };
    }),
  ];
}

function runSpan(trace: PushedTrace, traceId: string, captureContent: boolean): TraceSpan {
  const failed = trace.status === 'failed' || trace.status === 'timed_out';
  return {
    ...{ runId: trace.id, traceId, spanId: spanIdOf(trace.id), parentSpanId: trace.callerSpan?.spanId },
    name: `invoke_agent ${trace.agentName}`,
    // CLIENT would mean that the agent runs in another process.
    kind: SpanKind.INTERNAL,
    ...times(trace.startedAt.getTime(), trace.latencyMs),
    status: status(failed, captureContent ? (trace.error?.message ?? null) : null),
    attributes: present({ ...runFacts(trace, failed), ...(captureContent ? runContents(trace) : {}) }),
  };
}

function runFacts(trace: PushedTrace, failed: boolean): Facts {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': providerName(trace),
    'gen_ai.request.model': trace.model,
    'gen_ai.agent.id': trace.agentId,
    'gen_ai.agent.name': trace.agentName,
    'gen_ai.conversation.id': trace.threadId,
    'gen_ai.usage.input_tokens': trace.usage.inputTokens,
    'gen_ai.usage.output_tokens': trace.usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': trace.usage.cachedInputTokens,
    'agent_service.organization.id': trace.organizationId,
    'agent_service.message.id': trace.messageId,
    'agent_service.channel': trace.channel,
    'agent_service.run.status': trace.status,
    'agent_service.run.credits': trace.usage.credits,
    'agent_service.run.time_to_first_token_ms': trace.timeToFirstTokenMs,
    'error.type': failed ? (trace.error?.code ?? trace.status) : null,
  };
}

function runContents({ input, output, userContext }: Trace): Facts {
  return {
    'gen_ai.input.messages': inputMessages(input),
    'gen_ai.output.messages': output === '' ? null : outputMessages(output, [], 'unknown'),
    'agent_service.user_context': userContext && contentText(userContext),
  };
}

function describe(step: TraceStep, trace: PushedTrace, calls: PendingCalls): StepFacts {
  switch (step.type) {
    case 'model':
      return modelStep(step, trace, calls);
    case 'tool':
    case 'retrieval':
      return toolStep(step, step.type, calls);
    case 'memory':
      // A recall before the model call is not a tool call and has no arguments.
      return step.input === null ? recallStep(step) : toolStep(step, step.type, calls);
    case 'hook':
      return hookStep(step);
    default:
      return step.type satisfies never;
  }
}

function modelStep(
  { name, input, output, error, usage, response }: TraceStep,
  trace: Trace,
  calls: PendingCalls,
): StepFacts {
  const toolCalls = toolCallsOf(output);
  calls.add(toolCalls);
  // The trace does not record whether a response without calls was complete.
  const finishReason = error === null && toolCalls.length > 0 ? 'tool_call' : undefined;
  return {
    name: `chat ${name}`,
    kind: SpanKind.CLIENT,
    errorType: '_OTHER',
    facts: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerName(trace),
      'gen_ai.request.model': name,
      'gen_ai.conversation.id': trace.threadId,
      'gen_ai.response.id': response?.id,
      'gen_ai.response.model': response?.model,
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
      'gen_ai.response.finish_reasons': finishReason && [finishReason],
    },
    contents: () => ({
      'gen_ai.input.messages': inputMessages(fieldsOf(input)['last'] ?? input),
      'gen_ai.output.messages': outputMessages(
        fieldsOf(output)['text'] ?? output,
        toolCalls,
        finishReason ?? 'unknown',
      ),
    }),
  };
}

function toolStep(
  { name, input, output }: TraceStep,
  type: 'tool' | 'retrieval' | 'memory',
  calls: PendingCalls,
): StepFacts {
  const operation = type === 'retrieval' ? 'retrieval' : 'execute_tool';
  return {
    name: `${type === 'memory' ? type : operation} ${name}`,
    kind: SpanKind.INTERNAL,
    errorType: 'tool_error',
    facts: {
      'gen_ai.operation.name': operation,
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': calls.take(name, input),
      'agent_service.memory.operation': type === 'memory' ? name : null,
    },
    contents: () => ({
      'gen_ai.retrieval.query.text': type === 'retrieval' ? textOf(fieldsOf(input)['query']) : null,
      'gen_ai.tool.call.arguments': contentText(input),
      'gen_ai.tool.call.result': contentText(output),
    }),
  };
}

function recallStep({ name, output }: TraceStep): StepFacts {
  return {
    name: `memory ${name}`,
    kind: SpanKind.INTERNAL,
    errorType: '_OTHER',
    facts: { 'agent_service.memory.operation': name },
    contents: () => ({ 'agent_service.memory.recalled': contentText(output) }),
  };
}

function hookStep({ name, input, output }: TraceStep): StepFacts {
  const { type, url, server, tool } = fieldsOf(input);
  // Only calls of handlers have a type. The input of other hooks is content.
  const isCall = type !== undefined;
  const { outcome, status } = isCall ? fieldsOf(output) : {};
  return {
    name: `hook ${name}`,
    kind: type === 'http' ? SpanKind.CLIENT : SpanKind.INTERNAL,
    errorType: '_OTHER',
    facts: {
      'agent_service.hook.event': name,
      'agent_service.hook.type': textOf(type),
      'server.address': type === 'http' ? hostOf(url) : null,
      'agent_service.hook.server': isCall ? textOf(server) : null,
      'agent_service.hook.tool': isCall ? textOf(tool) : null,
      'agent_service.hook.outcome': textOf(outcome ?? status),
    },
    contents: () => ({
      'agent_service.hook.input': contentText(input),
      'agent_service.hook.output': contentText(output),
    }),
  };
}

/** Without the path, which is often the credential of a webhook. */
function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' ? URL.parse(url)?.hostname : undefined;
}

/** Finds the call id of a tool step: the id of the model's call with the same name and input, as the step does not store it. */
class PendingCalls {
  private waiting: ToolCall[] = [];

  add(calls: readonly ToolCall[]): void {
    this.waiting = [...calls];
  }

  take(name: string, input: unknown): string | undefined {
    const at = this.waiting.findIndex((call) => call.name === name && isDeepStrictEqual(call.input, input));
    return at < 0 ? undefined : this.waiting.splice(at, 1)[0]?.id;
  }
}

/** The conventions' name for the provider of the model. */
function providerName({ provider, model }: Trace): string {
  return TYPES.has(provider) ? apiOf(provider as ProviderType, model).telemetryName : provider;
}

function spanIdOf(source: string): string {
  return createHash('sha256').update(source).digest('hex').slice(0, 16);
}

function times(startMs: number, durationMs: number): { startTime: HrTime; endTime: HrTime } {
  return { startTime: hrTime(startMs), endTime: hrTime(startMs + Math.round(durationMs)) };
}

/** Seconds and nanoseconds; a float cannot hold both in one number. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, (ms - seconds * 1000) * 1_000_000];
}

function status(failed: boolean, message: string | null): SpanStatus {
  if (!failed) return { code: SpanStatusCode.UNSET };
  return { code: SpanStatusCode.ERROR, ...(message === null ? {} : { message }) };
}

function present(facts: Facts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts))
    if (value !== null && value !== undefined) attributes[name] = value;
  return attributes;
}
