import { Injectable } from '@nestjs/common';
import {
  ModelFailure,
  ModelGateway,
  type ModelRequest,
  type ModelToolCall,
  type ModelUsage,
  type ProviderState,
} from '../../models/index.js';
import { Clock, type Stopwatch } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import type { RunEvent } from './agui-events.js';
import { HookPanel } from './hook-panel.js';
import { attachmentFacts } from './model-attachments.js';
import { publicFailure } from './resolve-turn.js';
import type { NextStep, Turn } from './turn.js';

/** What one call of the model came to. */
interface Answer {
  text: string;
  readonly calls: ModelToolCall[];
  usage: ModelUsage;
  state: ProviderState | undefined;
}

/** Second phase of a turn: one call of the model, its events translated as they come. */
@Injectable()
export class CallModel {
  constructor(
    private readonly models: ModelGateway,
    private readonly hooks: HookPanel,
    private readonly clock: Clock,
  ) {}

  async *run(turn: Turn): AsyncGenerator<RunEvent, NextStep> {
    const request = this.request(turn);
    const stopwatch = this.clock.stopwatch();
    const answer: Answer = { text: '', calls: [], usage: { inputTokens: null, outputTokens: null }, state: undefined };
    try {
      yield* this.listen(turn, request, answer);
      this.record(turn, request, answer, stopwatch, null);
    } catch (error) {
      this.record(turn, request, answer, stopwatch, publicFailure(error).error.message);
      if (!answered(answer) && shortened(turn, error)) return { kind: 'call_model' };
      turn.count(answer.usage);
      throw error;
    }
    turn.count(answer.usage);
    turn.transcript.push({
      role: 'assistant',
      text: answer.text,
      toolCalls: answer.calls,
      ...(answer.state ? { state: answer.state } : {}),
    });
    return this.decide(turn, answer);
  }

  private async *listen(turn: Turn, request: ModelRequest, answer: Answer): AsyncGenerator<RunEvent> {
    for await (const event of this.models.stream(request, turn.context.signal)) {
      switch (event.type) {
        case 'text':
          answer.text += event.text;
          yield* turn.say(event.text);
          break;
        case 'reasoning':
          yield* turn.think(event.text);
          break;
        case 'tool_call_started':
          yield* turn.startCall(event.id, event.name);
          break;
        case 'tool_call_arguments':
          yield* turn.callArguments(event.id, event.delta);
          break;
        case 'tool_call':
          answer.calls.push(event.call);
          yield* turn.startCall(event.call.id, event.call.name);
          yield* turn.endCall(event.call);
          break;
        case 'stopped':
          turn.stopReason = event.reason;
          answer.usage = event.usage;
          answer.state = event.state;
          yield* turn.dropUnfinishedCalls();
          yield* turn.closeOpenParts();
          break;
        default:
          event satisfies never;
      }
    }
  }

  private async decide(turn: Turn, answer: Answer): Promise<NextStep> {
    if (answer.calls.length > 0) {
      turn.rounds += 1;
      return { kind: 'execute_tools', calls: answer.calls };
    }
    const verdict = await this.hooks.beforeStop(turn);
    if (verdict.decision === 'continue') {
      turn.continued = true;
      turn.transcript.push({ role: 'user', text: verdict.reason });
      return { kind: 'call_model' };
    }
    return { kind: 'finish', outcome: { status: 'completed', blocked: false } };
  }

  private request(turn: Turn): ModelRequest {
    const { agent } = turn.context;
    return {
      model: agent.provider.model,
      options: agent.options,
      ...(turn.apiKey === undefined ? {} : { apiKey: turn.apiKey }),
      ...(turn.route === undefined ? {} : { route: turn.route }),
      system: turn.system,
      showReasoning: turn.context.showReasoning,
      messages: turn.messages,
      tools: [...turn.tools.values()].map((tool) => tool.definition),
    };
  }

  private record(turn: Turn, request: ModelRequest, answer: Answer, stopwatch: Stopwatch, error: string | null): void {
    const attachments = attachmentFacts(request.messages);
    turn.steps.push({
      id: newId(),
      type: 'model',
      name: request.model,
      startedAt: stopwatch.startedAt,
      latencyMs: stopwatch.elapsedMs(),
      input: {
        messages: request.messages.length,
        omittedMessages: turn.omittedMessages,
        tools: request.tools.map((tool) => tool.name),
        last: lastInput(request),
        ...(attachments.length === 0 ? {} : { attachments }),
      },
      output: { text: answer.text, toolCalls: answer.calls },
      error,
      usage: answer.usage,
    });
  }
}

/** Makes the request smaller where that may help. A file that a provider refuses must not end every later turn. */
function shortened(turn: Turn, error: unknown): boolean {
  if (!(error instanceof ModelFailure)) return false;
  if (error.code === 'context_too_long') return turn.withholdOlderAttachments() || turn.forgetOlderHalf();
  return error.facts.unacceptable === true && turn.withholdOlderAttachments();
}

/** Something of the answer may have reached a reader, or it would be a second one to make it again. */
function answered({ text, calls }: Answer): boolean {
  return text !== '' || calls.length > 0;
}

/** What is new in this call; what came before stands in the thread and in earlier steps. */
function lastInput(request: ModelRequest): unknown {
  const last = request.messages.at(-1);
  return last?.role === 'tool' ? { toolCallId: last.toolCallId, output: last.output } : last?.text;
}
