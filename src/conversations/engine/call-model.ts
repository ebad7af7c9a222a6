import { Injectable } from '@nestjs/common';
import {
  ModelFailure,
  ModelGateway,
  type ModelRequest,
  type ModelResponse,
  type ModelToolCall,
  type ModelUsage,
  type ProviderState,
  type ResponseFormat,
  UNKNOWN_USAGE,
} from '../../models/index.js';
import { Clock, type Stopwatch } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import {
  documentProblem,
  invalidAnswer,
  mendingNote,
  refusedAnswer,
  refusedFormat,
} from '../domain/structured-output.js';
import { HookDispatcher } from './hook-dispatcher.js';
import { UNREADABLE_CALL, unreadableCallNote } from './malformed-calls.js';
import { MAX_UNREADABLE_ANSWERS } from './limits.js';
import { attachmentFacts } from './model-attachments.js';
import { ProviderToolCalls } from './provider-tool-calls.js';
import { publicFailure } from './resolve-failure.js';
import type { RunConversation } from './run-conversation.js';
import type { NextStep, RunState } from './run-state.js';
import type { RunStep } from '../ports/index.js';
import { withoutStaleCalls } from './stale-caller-calls.js';
import { ToolCallMetrics } from './tool-call-metrics.js';

interface Answer {
  text: string;
  /** The part of the text after all tool calls: the document, where the run has a response format. */
  finalText: string;
  readonly calls: ModelToolCall[];
  readonly providerCalls: ProviderToolCalls;
  /** As reported last; incomplete when the call failed. */
  usage: ModelUsage;
  state: ProviderState | undefined;
  response: ModelResponse | undefined;
  /** The text of the unreadable call in which the answer ended; undefined when there was none. */
  unreadableCall: string | undefined;
}

/** Second phase of a run: calls the model once and translates its events as they arrive. */
@Injectable()
export class CallModel {
  constructor(
    private readonly models: ModelGateway,
    private readonly hooks: HookDispatcher,
    private readonly clock: Clock,
    private readonly toolCalls: ToolCallMetrics,
  ) {}

  async run(state: RunState): Promise<NextStep> {
    state.conversation.makeRoom();
    const request = this.request(state);
    const stopwatch = this.clock.stopwatch();
    const providerCalls = new ProviderToolCalls(state, this.clock, this.toolCalls);
    const answer: Answer = {
      ...{ text: '', finalText: '', calls: [], providerCalls, usage: UNKNOWN_USAGE },
      ...{ state: undefined, response: undefined, unreadableCall: undefined },
    };
    try {
      await this.listen(state, request, answer);
      this.record(state, request, answer, stopwatch, answer.unreadableCall === undefined ? null : UNREADABLE_CALL);
    } catch (error) {
      providerCalls.abort();
      this.record(state, request, answer, stopwatch, publicFailure(error).error.message);
      const retry =
        !hasAnswered(answer) &&
        (state.schemaFallbacks.refuse(error, request, state.tools) || shortened(state.conversation, error));
      // A refused request used no tokens; counting it would make the run's usage unknown.
      if (!retry || answer.usage.inputTokens !== null) state.count(answer.usage);
      if (retry) return { kind: 'call_model' };
      const refusal = error instanceof ModelFailure ? error.facts.refusedFormat : undefined;
      if (refusal) return { kind: 'finish', outcome: refusedFormat(refusal.reason) };
      throw error;
    }
    state.schemaFallbacks.accept(request, state.tools);
    state.count(answer.usage);
    state.conversation.transcript.push({
      role: 'assistant',
      text: answer.text,
      toolCalls: answer.calls.map((call) => (state.tools.isOfCaller(call.name) ? { ...call, byCaller: true } : call)),
      ...(answer.state ? { state: answer.state } : {}),
    });
    if (answer.unreadableCall !== undefined) return askAgain(state, answer.unreadableCall);
    state.unreadableAnswers = 0;
    state.toolChoice = undefined;
    return this.decide(state, answer);
  }

  private async listen(state: RunState, request: ModelRequest, answer: Answer): Promise<void> {
    for await (const event of this.models.stream(request, state.context.signal)) {
      switch (event.type) {
        case 'response':
          answer.response = event.response;
          break;
        case 'text':
          answer.text += event.text;
          this.tell(state, answer, event.text);
          break;
        case 'reasoning':
          state.think(event.text);
          break;
        case 'tool_call_started':
          answer.finalText = '';
          state.startCall(event.id, event.name);
          break;
        case 'tool_call_arguments':
          state.callArguments(event.id, event.delta);
          break;
        case 'tool_call':
          answer.calls.push(event.call);
          state.startCall(event.call.id, event.call.name);
          state.endCall(event.call);
          break;
        case 'unreadable_call':
          answer.unreadableCall = event.written;
          break;
        case 'provider_tool_call':
          answer.finalText = '';
          answer.providerCalls.begin(event.call);
          break;
        case 'provider_tool_result':
          answer.finalText = '';
          answer.providerCalls.end(event.id, event.output, event.isError);
          break;
        case 'usage':
          answer.usage = event.usage;
          break;
        case 'stopped':
          state.stopReason = event.reason;
          answer.usage = event.usage;
          answer.state = event.state;
          if (event.reason !== 'tool_calls') answer.providerCalls.close();
          state.dropUnfinishedCalls();
          state.closeOpenParts();
          break;
        default:
          event satisfies never;
      }
    }
  }

  /** Withholds the text of a run with a response format: only a valid document is sent, and at once. */
  private tell(state: RunState, answer: Answer, text: string): void {
    if (!state.context.options.responseFormat) {
      state.say(text);
      return;
    }
    answer.finalText += text;
    state.withheldText = answer.finalText;
  }

  private async decide(state: RunState, answer: Answer): Promise<NextStep> {
    if (answer.calls.length > 0) {
      state.rounds += 1;
      // Text before calls is no document.
      state.withheldText = '';
      return { kind: 'execute_tools', calls: answer.calls };
    }
    const { responseFormat } = state.context.options;
    const problem = responseFormat && documentProblem(responseFormat, answer.finalText, state.stopReason);
    if (problem !== undefined) return askToMend(state, problem);
    const verdict = await this.hooks.beforeStop(state, responseFormat ? answer.finalText : answer.text);
    if (verdict.decision === 'continue') {
      state.continued = true;
      // The hook asks for another document, which may be asked for once more too.
      state.askedToMend = false;
      state.conversation.transcript.push({ role: 'user', text: verdict.reason, guidance: true });
      return { kind: 'call_model' };
    }
    if (responseFormat) state.say(answer.finalText);
    return { kind: 'finish', outcome: { status: 'completed', blocked: false } };
  }

  private request(state: RunState): ModelRequest {
    const { agent, options } = state.context;
    return {
      model: agent.provider.model,
      options: agent.options,
      ...(state.apiKey === undefined ? {} : { apiKey: state.apiKey }),
      ...(state.route === undefined ? {} : { route: state.route }),
      system: state.system,
      conversationSystem: state.conversationSystem,
      showReasoning: state.context.showReasoning,
      messages: withoutStaleCalls(state.conversation.messages, (name) => state.tools.isOfCaller(name)),
      tools: state.schemaFallbacks.definitions(state.tools),
      ...(options.responseFormat ? { responseFormat: options.responseFormat } : {}),
      ...(state.toolChoice === undefined ? {} : { toolChoice: state.toolChoice }),
      ...(options.oneCallAtATime === true ? { oneCallAtATime: true } : {}),
    };
  }

  private record(
    state: RunState,
    request: ModelRequest,
    answer: Answer,
    stopwatch: Stopwatch,
    error: string | null,
  ): void {
    const attachments = attachmentFacts(request.messages);
    state.steps.push({
      id: newId(),
      type: 'model',
      name: request.model,
      startedAt: stopwatch.startedAt,
      latencyMs: stopwatch.elapsedMs(),
      input: {
        messages: request.messages.length,
        omittedMessages: state.conversation.omittedMessages,
        tools: request.tools.map((tool) => tool.name),
        last: lastInput(request),
        ...(attachments.length === 0 ? {} : { attachments }),
        ...(request.responseFormat && { responseFormat: formatName(request.responseFormat) }),
      },
      output: { text: answer.text, toolCalls: answer.calls },
      error,
      usage: stepUsage(answer.usage),
      ...(answer.response ? { response: answer.response } : {}),
    });
    state.steps.push(...answer.providerCalls.steps);
  }
}

function stepUsage({ inputTokens, outputTokens, cachedInputTokens = null }: ModelUsage): RunStep['usage'] {
  return { inputTokens, outputTokens, cachedInputTokens };
}

/** Adds a note for the model, since no call exists that could get a result. */
function askAgain(state: RunState, written: string): NextStep {
  state.unreadableAnswers += 1;
  if (state.unreadableAnswers > MAX_UNREADABLE_ANSWERS) {
    const message = 'The model keeps calling tools in a way that cannot be read.';
    throw new ModelFailure('provider_error', message, {
      retryable: false,
      ownKey: state.apiKey !== undefined,
      detail: UNREADABLE_CALL,
    });
  }
  state.conversation.transcript.push({ role: 'user', text: unreadableCallNote(written), guidance: 'unreadable_call' });
  return { kind: 'call_model' };
}

/** Asks once for each document: a model that cannot write the document would cost without end. A model that refuses is not asked. */
function askToMend(state: RunState, problem: string): NextStep {
  if (state.stopReason === 'refusal') return { kind: 'finish', outcome: refusedAnswer() };
  if (state.askedToMend) return { kind: 'finish', outcome: invalidAnswer(problem) };
  state.askedToMend = true;
  state.conversation.transcript.push({ role: 'user', text: mendingNote(problem), guidance: 'unreadable_call' });
  return { kind: 'call_model' };
}

function formatName(format: ResponseFormat): string {
  return format.type === 'json_schema' ? format.name : format.type;
}

/** A file that a provider refuses must not fail this run and all later ones. */
function shortened(conversation: RunConversation, error: unknown): boolean {
  if (!(error instanceof ModelFailure)) return false;
  if (error.code === 'context_too_long') return conversation.shorten();
  return error.facts.unacceptable === true && (conversation.stripMedia() || conversation.stripOlderAttachments());
}

/**
 * A call that has answered something is not repeated: a reader may have seen the answer, and would see a second one.
 */
function hasAnswered({ text, calls, providerCalls }: Answer): boolean {
  return text !== '' || calls.length > 0 || providerCalls.seen;
}

/** The newest message; earlier ones are in the thread and in earlier steps of the trace. */
function lastInput(request: ModelRequest): unknown {
  const last = request.messages.at(-1);
  return last?.role === 'tool' ? { toolCallId: last.toolCallId, output: last.output } : last?.text;
}
