import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { ModelToolCall } from '../../models/index.js';
import { Clock, untilAborted } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import {
  type ApprovalDecision,
  type ApprovalRequest,
  changedInputNote,
  CHANGED_SINCE_APPROVED,
  declinedOutput,
  needsApproval,
  ENDED_BEFORE_APPROVAL,
  ENDED_BEFORE_CALLER,
  APPROVAL_UNAVAILABLE,
} from '../domain/approval.js';
import type { ToolCallRecord, ToolCallStatus } from '../domain/message.js';
import { RunAborted, unknownOutcome } from '../domain/run-abort.js';
import { RunRepository } from '../persistence/run.repository.js';
import { missingAnswer } from '../domain/structured-output.js';
import type { OfferedTool, ToolResult, ToolStepType, RunStep } from '../ports/index.js';
import { DatabaseOutage } from './database-outage.js';
import { HookDispatcher } from './hook-dispatcher.js';
import { MAX_REFUSED_ROUNDS, MAX_TOOL_ROUNDS } from './limits.js';
import { malformedCallOutput } from './malformed-calls.js';
import type { NextStep, RunState } from './run-state.js';
import { ToolCallMetrics } from './tool-call-metrics.js';

/** `requestedInput`: the model's arguments, where a person has changed them. */
type MadeCall = ModelToolCall & Pick<ToolCallRecord, 'requestedInput'>;

type Outcome =
  | {
      readonly kind: 'settled';
      readonly call: MadeCall;
      readonly result: ToolResult;
      readonly status: Extract<ToolCallStatus, 'completed' | 'failed' | 'denied'>;
      /** Absent when the tool was not called. */
      readonly latencyMs?: number;
    }
  /** The call needs an approval, or the result that the caller has for it. */
  | {
      readonly kind: 'waits';
      readonly for: ApprovalRequest['kind'];
      readonly call: ModelToolCall;
      readonly additionalContext: readonly string[];
    };

const FAILED = 'The tool failed. Continue without its result, or tell the user that it is not available.';
const ROUNDS_SPENT = `The tool was not called: a reply may take ${MAX_TOOL_ROUNDS} rounds of tool calls. Answer with what you have.`;

/**
 * Third phase of a run: makes the model's tool calls in parallel. They are stored as running before the first one
 * starts, so that after the death of the process a call under way is known; it becomes `unknown` and is never repeated.
 * When calls need approval or belong to the caller's tools, the run ends after the others have their results.
 */
@Injectable()
export class ExecuteTools {
  constructor(
    private readonly hooks: HookDispatcher,
    private readonly runs: RunRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly metrics: ToolCallMetrics,
    private readonly outage: DatabaseOutage,
  ) {}

  async run(state: RunState, calls: readonly ModelToolCall[]): Promise<NextStep> {
    const waiting = await this.round(state, calls, (call) => this.handle(state, call));
    if (waiting.length > 0) {
      return { kind: 'finish', outcome: { status: 'requires_action', approvals: waiting } };
    }
    // The results of the refused calls are stored too: a call without a result would look pending.
    if (state.rounds >= MAX_TOOL_ROUNDS + MAX_REFUSED_ROUNDS) {
      if (state.context.options.responseFormat) return { kind: 'finish', outcome: missingAnswer() };
      return { kind: 'finish', outcome: { status: 'completed', blocked: false } };
    }
    return { kind: 'call_model' };
  }

  /**
   * Takes the results that the caller sent, and makes the approved calls of the thread's last run. Hooks checked them in
   * that run and are called again only for arguments that a person has changed, so that exactly what was shown and
   * approved is called.
   */
  async resume(state: RunState, decisions: readonly ApprovalDecision[]): Promise<NextStep> {
    for (const decision of decisions) if (!decision.approved) this.decline(state, decision);
    const results = decisions.flatMap((decision) =>
      decision.result ? [this.takeResult(state, decision, decision.result)] : [],
    );
    await untilAborted(Promise.all(results), state.context.signal);
    const approved = decisions.filter((decision) => decision.approved && !decision.result);
    const approvals = new Map(approved.map((decision) => [decision.toolCallId, decision]));
    // The arguments as the model wrote them: of calls with one id those of the last answer.
    const requested = new Map(
      state.conversation.current
        .flatMap((entry) => (entry.role === 'assistant' ? entry.toolCalls : []))
        .map(({ id, input }) => [id, input]),
    );
    const made = approved.map((decision) => madeCall(decision, requested.get(decision.toolCallId)));
    await this.round(state, made, (call) => this.executeApproved(state, call, approvals.get(call.id)));
    return { kind: 'call_model' };
  }

  /** @returns requests for the calls that need an answer, in order */
  private async round(
    state: RunState,
    calls: readonly MadeCall[],
    make: (call: MadeCall) => Promise<Outcome>,
  ): Promise<ApprovalRequest[]> {
    const first = state.toolCalls.length;
    state.toolCalls.push(...calls.map((call) => recordOf(state, call, 'running')));
    const message = calls.length > 0 ? state.message('incomplete') : null;
    if (message) await this.outage.during(state, () => this.runs.checkpoint(state.context, message));
    const outcomes = calls.map((): Outcome | undefined => undefined);
    const pending = calls.map(async (call, index) => (outcomes[index] = await make(call)));
    // They are awaited one after the other below; until then a failure would be an unhandled rejection.
    for (const execution of pending) execution.catch(() => undefined);
    let settled = 0;
    try {
      for (const execution of pending) {
        const outcome = await untilAborted(execution, state.context.signal);
        if (outcome.kind === 'settled') this.settle(state, first + settled, outcome);
        settled += 1;
      }
    } catch (error) {
      this.abort(state, first, outcomes, settled);
      throw error;
    }
    return outcomes.flatMap((outcome, index) =>
      outcome?.kind === 'waits' ? [this.ask(state, first + index, outcome)] : [],
    );
  }

  private async handle(state: RunState, call: ModelToolCall): Promise<Outcome> {
    if (state.rounds > MAX_TOOL_ROUNDS) return refused(call, ROUNDS_SPENT, 'failed');
    const tool = state.tools.use(call.name);
    if (!tool) return refused(call, noSuchTool(state, call), 'failed');
    const malformed = malformedCallOutput(call);
    if (malformed !== undefined) return this.refuseMalformed(state, call, malformed);
    const verdict = await this.hooks.beforeToolCall(state, call);
    const { additionalContext = [] } = verdict;
    if (verdict.decision === 'deny')
      return refused(call, this.withTexts(state, verdict.reason, additionalContext), 'denied');
    const asked = verdict.input === undefined ? call : { ...call, input: verdict.input };
    if (state.tools.isOfCaller(call.name)) return { kind: 'waits', for: 'client_call', call: asked, additionalContext };
    const { agent, nonInteractive } = state.context;
    if (!needsApproval(tool.effect, agent.tools)) return this.execute(state, asked, additionalContext);
    if (!nonInteractive) return { kind: 'waits', for: 'approval', call: asked, additionalContext };
    return refused(asked, this.withTexts(state, APPROVAL_UNAVAILABLE, additionalContext), 'denied');
  }

  /** Calls neither hooks nor asks for approval, since malformed arguments cannot be checked. */
  private refuseMalformed(state: RunState, call: ModelToolCall, given: string): Outcome {
    const output = state.outputs.take(given);
    this.note(state, { name: call.name, input: call.malformedInput, output, error: output });
    return refused(call, output, 'failed');
  }

  private async executeApproved(
    state: RunState,
    call: MadeCall,
    approval: ApprovalDecision | undefined,
  ): Promise<Outcome> {
    const tool = state.tools.use(call.name);
    if (tool && tool.target !== approval?.target) return refused(call, CHANGED_SINCE_APPROVED, 'denied');
    if (call.requestedInput === undefined) return this.execute(state, call, approval?.additionalContext ?? []);
    const { id, name, input } = call;
    const verdict = await this.hooks.beforeToolCall(state, { id, name, input });
    const { additionalContext = [] } = verdict;
    if (verdict.decision === 'deny')
      return refused(call, this.withTexts(state, verdict.reason, additionalContext), 'denied');
    const made = { ...call, input: verdict.input ?? input };
    return this.execute(state, made, additionalContext, changedInputNote(made.input));
  }

  /** Takes the caller's result of its own tool. */
  private async takeResult(
    state: RunState,
    { toolCallId: id, tool: name, input, additionalContext: before = [] }: ApprovalDecision,
    { output: given, isError }: NonNullable<ApprovalDecision['result']>,
  ): Promise<void> {
    const call = { id, name, input };
    const result = { output: state.outputs.take(given), isError };
    const after = isError ? [] : await this.hooks.afterToolCall(state, call, result);
    const output = this.withTexts(state, result.output, [...before, ...after]);
    this.keepResult(state, call, { output, isError });
    this.note(state, { name, input, output: result.output, error: isError ? result.output : null });
    this.metrics.count('tool', isError ? 'failed' : 'completed');
  }

  /**
   * @param before contexts that hooks added before the call
   * @param note the beginning of the result
   */
  private async execute(state: RunState, call: MadeCall, before: readonly string[], note?: string): Promise<Outcome> {
    const tool = state.tools.use(call.name);
    if (!tool) return refused(call, noSuchTool(state, call), 'failed');
    const { result, latencyMs } = await this.call(state, tool, call);
    const after = result.isError ? [] : await this.hooks.afterToolCall(state, call, result);
    const texts = this.withTexts(state, result.output, [...before, ...after]);
    const output = note === undefined ? texts : `${state.outputs.take(note)}\n\n${texts}`;
    return {
      kind: 'settled',
      call,
      result: { ...result, output },
      status: result.isError ? 'failed' : 'completed',
      latencyMs,
    };
  }

  private withTexts(state: RunState, output: string, texts: readonly string[]): string {
    return [output, ...texts.map((text) => state.outputs.take(text))].join('\n\n');
  }

  private async call(
    state: RunState,
    tool: OfferedTool,
    call: MadeCall,
  ): Promise<{ result: ToolResult; latencyMs: number }> {
    const { startedAt, elapsedMs } = this.clock.stopwatch();
    let result: ToolResult;
    try {
      const given = await tool.call(call.input, state.context.signal);
      result = { ...given, output: state.outputs.take(given.output) };
    } catch (error) {
      if (state.context.signal.aborted) throw error;
      this.logger.warn({ err: error, runId: state.context.runId, tool: call.name }, 'A tool threw');
      result = { output: FAILED, isError: true };
    }
    const latencyMs = elapsedMs();
    state.steps.push({
      id: newId(),
      type: tool.step,
      name: call.name,
      startedAt,
      latencyMs,
      input: call.input,
      ...(call.requestedInput === undefined ? {} : { requestedInput: call.requestedInput }),
      output: result.output,
      error: result.isError ? result.output : null,
    });
    return { result, latencyMs };
  }

  private settle(
    state: RunState,
    index: number,
    { call, result, status, latencyMs }: Extract<Outcome, { kind: 'settled' }>,
  ): void {
    this.keepResult(state, call, result);
    this.metrics.count(kindOf(state, call.name), status, latencyMs);
    state.settleCall(index, { ...recordOf(state, call, status), output: result.output });
    if (result.component && status === 'completed') state.showComponent(result.component);
  }

  /**
   * The declined call is in the message of the run that asked for approval; this run's transcript gets only the result.
   */
  private decline(state: RunState, decision: ApprovalDecision): void {
    const { toolCallId: id, tool: name, input } = decision;
    const output = declinedOutput(decision);
    this.keepResult(state, { id, name, input }, { output, isError: true });
    this.note(state, { name, input, output, error: output });
    this.metrics.count(kindOf(state, name), 'denied');
    const ofCaller = decision.kind === 'client_call' ? ({ byCaller: true } as const) : {};
    state.showResult({ id, name, input, output, status: 'denied', ...ofCaller });
  }

  private ask(
    state: RunState,
    index: number,
    { for: kind, call, additionalContext }: Extract<Outcome, { kind: 'waits' }>,
  ): ApprovalRequest {
    const { id: toolCallId, name: tool, input } = call;
    const status = kind === 'approval' ? 'awaiting_approval' : 'awaiting_result';
    state.toolCalls[index] = state.recordOf(call, status);
    if (kind === 'client_call') state.showCallerCall(call);
    const target = state.tools.use(tool)?.target;
    const request = {
      ...{ id: newId(), kind, toolCallId, tool, input },
      ...(target === undefined ? {} : { target }),
      ...(additionalContext.length === 0 ? {} : { additionalContext }),
    };
    const output = kind === 'approval' ? { awaitsApproval: request.id } : { awaitsResult: request.id };
    this.note(state, { name: tool, input, output, error: null });
    this.metrics.count(kindOf(state, tool), status);
    return request;
  }

  /** The run ends within a round: keeps the results that are known, and marks the other calls as unknown. */
  private abort(state: RunState, first: number, outcomes: readonly (Outcome | undefined)[], settled: number): void {
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome?.kind === 'waits') {
        const why = outcome.for === 'approval' ? ENDED_BEFORE_APPROVAL : ENDED_BEFORE_CALLER;
        this.settle(state, first + index, refused(outcome.call, why, 'denied'));
      }
      if (outcome?.kind === 'settled' && index >= settled) this.settle(state, first + index, outcome);
    }
    this.markUnknown(state);
  }

  private markUnknown(state: RunState): void {
    const { reason } = state.context.signal as { readonly reason: unknown };
    const cause = reason instanceof RunAborted ? reason.abortCause : undefined;
    for (const [index, call] of state.toolCalls.entries()) {
      if (call.status !== 'running') continue;
      state.toolCalls[index] = { ...call, status: 'unknown' };
      // When the process dies instead, `toModelMessages` adds this result.
      if (cause !== undefined) this.keepResult(state, call, { output: unknownOutcome(cause), isError: true });
      this.metrics.count(kindOf(state, call.name), 'unknown');
    }
  }

  private keepResult(state: RunState, { id, name }: ModelToolCall, { output, isError, media }: ToolResult): void {
    state.conversation.keepResult({
      role: 'tool',
      toolCallId: id,
      toolName: name,
      output,
      isError,
      ...(media ? { media } : {}),
    });
  }

  private note(state: RunState, step: Pick<RunStep, 'name' | 'input' | 'output' | 'error'>): void {
    state.steps.push({ id: newId(), type: 'tool', startedAt: this.clock.now(), latencyMs: 0, ...step });
  }
}

/**
 * Forms send the arguments back also where nobody has changed them.
 * @param requestedInput the model's own arguments, which hooks may have changed before the approval
 */
function madeCall(
  { toolCallId: id, tool: name, input, changedInput }: ApprovalDecision,
  requestedInput = input,
): MadeCall {
  const isChanged = changedInput !== undefined && !isDeepStrictEqual(changedInput, input);
  return isChanged ? { id, name, input: changedInput, requestedInput } : { id, name, input };
}

function recordOf(state: RunState, call: MadeCall, status: ToolCallStatus): ToolCallRecord {
  const { requestedInput } = call;
  return { ...state.recordOf(call, status), ...(requestedInput === undefined ? {} : { requestedInput }) };
}

function refused(call: MadeCall, output: string, status: 'failed' | 'denied'): Extract<Outcome, { kind: 'settled' }> {
  return { kind: 'settled', call, result: { output, isError: true }, status };
}

function noSuchTool(state: RunState, { name }: ModelToolCall): string {
  return `There is no tool named ${name}. The tools are: ${state.tools.names()}.`;
}

/** The kind of a tool that does not exist is unknown and counts as `tool`. */
function kindOf(state: RunState, name: string): ToolStepType {
  return state.tools.find(name)?.step ?? 'tool';
}
