import { Injectable } from '@nestjs/common';
import type { ModelToolCall } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import {
  type ApprovalDecision,
  type ApprovalRequest,
  declinedOutput,
  needsApproval,
  NEVER_ASKED,
  NOBODY_TO_ASK,
} from '../domain/approval.js';
import type { ToolCallStatus } from '../domain/message.js';
import { TurnAborted } from '../domain/turn-abort.js';
import { RunRepository } from '../persistence/run.repository.js';
import type { OfferedTool, ToolResult, TurnStep } from '../ports/index.js';
import type { RunEvent } from './agui-events.js';
import { HookPanel } from './hook-panel.js';
import { RunOwner } from './run-owner.js';
import { MAX_REFUSED_ROUNDS, MAX_TOOL_ROUNDS } from './tunables.js';
import type { NextStep, Turn } from './turn.js';
import { untilAborted } from './until-aborted.js';

/** What became of one call. */
type Outcome =
  | {
      readonly kind: 'settled';
      readonly call: ModelToolCall;
      readonly result: ToolResult;
      readonly status: Extract<ToolCallStatus, 'completed' | 'failed' | 'denied'>;
    }
  /** Somebody has to approve it first. */
  | { readonly kind: 'waits'; readonly call: ModelToolCall };

const FAILED = 'The tool failed. Go on without its result, or tell the user that it is not available.';
const ROUNDS_SPENT = `The tool was not called: a reply may take ${MAX_TOOL_ROUNDS} rounds of tool calls. Answer with what you have.`;

/**
 * Third phase of a turn: the calls the model asked for, side by side. They are stored as running
 * before the first one starts, so that a call that was under way when the process died is known,
 * told as unknown, and never made again. Calls that somebody has to approve end the run once the others
 * have their results.
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
    const waiting = yield* this.round(turn, calls, (call) => this.judge(turn, call));
    if (waiting.length > 0) {
      return { kind: 'finish', outcome: { status: 'requires_action', approvals: waiting } };
    }
    // Their results are kept all the same: a call without one would look pending for ever.
    if (turn.rounds >= MAX_TOOL_ROUNDS + MAX_REFUSED_ROUNDS) {
      return { kind: 'finish', outcome: { status: 'completed', blocked: false } };
    }
    return { kind: 'call_model' };
  }

  /**
   * Goes on with the calls that the thread's last run ended with. Hooks have judged them then, and are not
   * asked again: what runs is what was shown and approved.
   */
  async *resume(turn: Turn, decisions: readonly ApprovalDecision[]): AsyncGenerator<RunEvent, NextStep> {
    for (const decision of decisions) if (!decision.approved) yield* this.decline(turn, decision);
    const approved = decisions
      .filter((decision) => decision.approved)
      .map(({ toolCallId: id, tool: name, input }) => ({ id, name, input }));
    yield* this.round(turn, approved, (call) => this.execute(turn, call));
    return { kind: 'call_model' };
  }

  /** @returns the calls that wait, in order */
  private async *round(
    turn: Turn,
    calls: readonly ModelToolCall[],
    make: (call: ModelToolCall) => Promise<Outcome>,
  ): AsyncGenerator<RunEvent, ApprovalRequest[]> {
    const first = turn.toolCalls.length;
    turn.toolCalls.push(...calls.map((call) => ({ ...call, status: 'running' as const })));
    if (calls.length > 0) await this.checkpoint(turn);
    const outcomes = calls.map((): Outcome | undefined => undefined);
    const pending = calls.map(async (call, index) => (outcomes[index] = await make(call)));
    // All are awaited below, one after the other; until its turn a failed one would count as unhandled.
    for (const execution of pending) execution.catch(() => undefined);
    let told = 0;
    try {
      for (const execution of pending) {
        const outcome = await untilAborted(execution, turn.context.signal);
        if (outcome.kind === 'settled') yield* this.settle(turn, first + told, outcome);
        told += 1;
      }
    } catch (error) {
      yield* this.breakOff(turn, first, outcomes, told);
      throw error;
    }
    return outcomes.flatMap((outcome, index) =>
      outcome?.kind === 'waits' ? [this.ask(turn, first + index, outcome.call)] : [],
    );
  }

  private async checkpoint(turn: Turn): Promise<void> {
    const message = turn.message('incomplete');
    if (!message) return;
    const { runId: id, organizationId } = turn.context;
    const stored = await this.runs.checkpoint({ id, organizationId, ownerId: this.owner.id }, message);
    if (!stored) throw new TurnAborted('lost_ownership');
  }

  /** Whether the call is made at all, and now. */
  private async judge(turn: Turn, call: ModelToolCall): Promise<Outcome> {
    if (turn.rounds > MAX_TOOL_ROUNDS) return refused(call, ROUNDS_SPENT, 'failed');
    const tool = turn.tools.get(call.name);
    if (!tool) return refused(call, noSuchTool(turn, call), 'failed');
    const verdict = await this.hooks.beforeToolCall(turn, call);
    if (verdict.decision === 'deny') return refused(call, verdict.reason, 'denied');
    const asked = verdict.input === undefined ? call : { ...call, input: verdict.input };
    const { agent, unattended } = turn.context;
    if (!needsApproval(tool.effect, agent.tools)) return this.execute(turn, asked);
    return unattended ? refused(asked, NOBODY_TO_ASK, 'denied') : { kind: 'waits', call: asked };
  }

  private async execute(turn: Turn, call: ModelToolCall): Promise<Outcome> {
    const tool = turn.tools.get(call.name);
    if (!tool) return refused(call, noSuchTool(turn, call), 'failed');
    const result = await this.call(turn, tool, call);
    if (result.isError) return { kind: 'settled', call, result, status: 'failed' };
    const added = await this.hooks.afterToolCall(turn, call, result);
    const output = [result.output, ...added.map((text) => turn.outputs.take(text))].join('\n\n');
    return { kind: 'settled', call, result: { ...result, output }, status: 'completed' };
  }

  private async call(turn: Turn, tool: OfferedTool, call: ModelToolCall): Promise<ToolResult> {
    const { startedAt, elapsedMs } = this.clock.stopwatch();
    let result: ToolResult;
    try {
      const { output, isError } = await tool.call(call.input, turn.context.signal);
      result = { output: turn.outputs.take(output), isError };
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
      latencyMs: elapsedMs(),
      input: call.input,
      output: result.output,
      error: result.isError ? result.output : null,
    });
    return result;
  }

  private *settle(
    turn: Turn,
    index: number,
    { call, result, status }: Extract<Outcome, { kind: 'settled' }>,
  ): Generator<RunEvent> {
    const { id, name, input } = call;
    this.keepResult(turn, call, result);
    yield* turn.settleCall(index, { id, name, input, output: result.output, status });
  }

  /** A call that was declined belongs to the message of the run that asked; this one has only its result. */
  private *decline(turn: Turn, decision: ApprovalDecision): Generator<RunEvent> {
    const { toolCallId: id, tool: name, input } = decision;
    const output = declinedOutput(decision);
    this.keepResult(turn, { id, name, input }, { output, isError: true });
    this.note(turn, { name, input, output, error: output });
    yield* turn.showResult({ id, name, input, output, status: 'denied' });
  }

  private ask(turn: Turn, index: number, call: ModelToolCall): ApprovalRequest {
    const { id: toolCallId, name: tool, input } = call;
    turn.toolCalls[index] = { ...call, status: 'awaiting_approval' };
    const request = { id: newId(), toolCallId, tool, input };
    this.note(turn, { name: tool, input, output: { awaitsApproval: request.id }, error: null });
    return request;
  }

  /** The turn ends within a round: what is known of its calls is kept, the rest may or may not have happened. */
  private *breakOff(turn: Turn, first: number, outcomes: readonly (Outcome | undefined)[], told: number): Generator<RunEvent> {
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome?.kind === 'waits') yield* this.settle(turn, first + index, refused(outcome.call, NEVER_ASKED, 'denied'));
      else if (outcome && index >= told) yield* this.settle(turn, first + index, outcome);
    }
    markUnknown(turn);
  }

  private keepResult(turn: Turn, { id, name }: ModelToolCall, { output, isError }: ToolResult): void {
    turn.transcript.push({ role: 'tool', toolCallId: id, toolName: name, output, isError });
  }

  /** A step of a call that was not made. */
  private note(turn: Turn, step: Pick<TurnStep, 'name' | 'input' | 'output' | 'error'>): void {
    turn.steps.push({ id: newId(), type: 'tool', startedAt: this.clock.now(), latencyMs: 0, ...step });
  }
}

function refused(call: ModelToolCall, output: string, status: 'failed' | 'denied'): Extract<Outcome, { kind: 'settled' }> {
  return { kind: 'settled', call, result: { output, isError: true }, status };
}

function noSuchTool(turn: Turn, { name }: ModelToolCall): string {
  return `There is no tool named ${name}. The tools are: ${[...turn.tools.keys()].join(', ') || 'none'}.`;
}

function markUnknown(turn: Turn): void {
  for (const [index, call] of turn.toolCalls.entries()) {
    if (call.status === 'running') turn.toolCalls[index] = { ...call, status: 'unknown' };
  }
}
