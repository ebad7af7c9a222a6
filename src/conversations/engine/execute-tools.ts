import { Injectable } from '@nestjs/common';
import type { ModelToolCall } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { ToolCallRecord, ToolCallStatus } from '../domain/message.js';
import { TurnAborted } from '../domain/turn-abort.js';
import { RunRepository } from '../persistence/run.repository.js';
import type { OfferedTool, ToolResult } from '../ports/index.js';
import { type RunEvent, toolCallResult } from './agui-events.js';
import { HookPanel } from './hook-panel.js';
import { RunOwner } from './run-owner.js';
import { MAX_REFUSED_ROUNDS, MAX_TOOL_ROUNDS } from './tunables.js';
import type { NextStep, Turn } from './turn.js';
import { untilAborted } from './until-aborted.js';

interface Executed {
  readonly call: ModelToolCall;
  readonly result: ToolResult;
  readonly status: Exclude<ToolCallStatus, 'running'>;
}

const FAILED = 'The tool failed. Go on without its result, or tell the user that it is not available.';
const ROUNDS_SPENT = `The tool was not called: a reply may take ${MAX_TOOL_ROUNDS} rounds of tool calls. Answer with what you have.`;

/**
 * Third phase of a turn: the calls the model asked for, side by side. They are stored as running
 * before the first one starts, so that a call that was under way when the process died is known,
 * told as unknown, and never made again.
 */
@Injectable()
export class ExecuteTools {
  constructor(
    private readonly hooks: HookPanel,
    private readonly runs: RunRepository,
    private readonly owner: RunOwner,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async *run(turn: Turn, calls: readonly ModelToolCall[]): AsyncGenerator<RunEvent, NextStep> {
    const first = turn.toolCalls.length;
    turn.toolCalls.push(...calls.map((call) => ({ ...call, status: 'running' as const })));
    await this.checkpoint(turn);
    const pending = calls.map((call) => this.execute(turn, call));
    // All are awaited below, one after the other; until its turn a failed one would count as unhandled.
    for (const execution of pending) execution.catch(() => undefined);
    try {
      for (const [index, execution] of pending.entries()) {
        const executed = await untilAborted(execution, turn.context.signal);
        const record = this.settle(turn, first + index, executed);
        if (turn.context.agent.toolProgress) yield toolCallResult(newId(), record);
      }
    } catch (error) {
      markUnknown(turn);
      throw error;
    }
    // Their results are kept all the same: a call without one would look pending for ever.
    if (turn.rounds >= MAX_TOOL_ROUNDS + MAX_REFUSED_ROUNDS) {
      return { kind: 'finish', outcome: { status: 'completed', blocked: false } };
    }
    return { kind: 'call_model' };
  }

  private async checkpoint(turn: Turn): Promise<void> {
    const message = turn.message('incomplete');
    if (!message) return;
    const { runId: id, organizationId } = turn.context;
    const stored = await this.runs.checkpoint({ id, organizationId, ownerId: this.owner.id }, message);
    if (!stored) throw new TurnAborted('lost_ownership');
  }

  private async execute(turn: Turn, call: ModelToolCall): Promise<Executed> {
    const refusal = this.refusal(turn, call);
    if (refusal !== null) return { call, result: { output: refusal, isError: true }, status: 'failed' };
    const verdict = await this.hooks.beforeToolCall(turn, call);
    if (verdict.decision === 'deny') {
      return { call, result: { output: verdict.reason, isError: true }, status: 'denied' };
    }
    const asked = verdict.input === undefined ? call : { ...call, input: verdict.input };
    const tool = turn.tools.get(call.name);
    const result = tool ? await this.call(turn, tool, asked) : { output: FAILED, isError: true };
    const added = result.isError ? [] : await this.hooks.afterToolCall(turn, asked, result);
    return {
      call: asked,
      result: { ...result, output: [result.output, ...added].join('\n\n') },
      status: result.isError ? 'failed' : 'completed',
    };
  }

  private refusal(turn: Turn, call: ModelToolCall): string | null {
    if (turn.rounds > MAX_TOOL_ROUNDS) return ROUNDS_SPENT;
    if (turn.tools.has(call.name)) return null;
    return `There is no tool named ${call.name}. The tools are: ${[...turn.tools.keys()].join(', ') || 'none'}.`;
  }

  private async call(turn: Turn, tool: OfferedTool, call: ModelToolCall): Promise<ToolResult> {
    const startedAt = this.clock.now();
    let result: ToolResult;
    try {
      result = await tool.call(call.input, turn.context.signal);
    } catch (error) {
      if (turn.context.signal.aborted) throw error;
      this.logger.warn({ err: error, runId: turn.context.runId, tool: call.name }, 'A tool threw');
      result = { output: FAILED, isError: true };
    }
    turn.steps.push({
      id: newId(),
      type: tool.step,
      name: call.name,
      startedAt,
      latencyMs: this.clock.now().getTime() - startedAt.getTime(),
      input: call.input,
      output: result.output,
      error: result.isError ? result.output : null,
    });
    return result;
  }

  private settle(turn: Turn, index: number, { call, result, status }: Executed): ToolCallRecord {
    const record: ToolCallRecord = { id: call.id, name: call.name, input: call.input, output: result.output, status };
    turn.toolCalls[index] = record;
    turn.transcript.push({
      role: 'tool',
      toolCallId: call.id,
      toolName: call.name,
      output: result.output,
      isError: result.isError,
    });
    return record;
  }
}

function markUnknown(turn: Turn): void {
  for (const [index, call] of turn.toolCalls.entries()) {
    if (call.status === 'running') turn.toolCalls[index] = { ...call, status: 'unknown' };
  }
}
