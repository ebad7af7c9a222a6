import { Injectable } from '@nestjs/common';
import {
  type PromptVerdict,
  type RunContext,
  RunHooks,
  type StopVerdict,
  type SuggestionRequest,
  type ToolCallVerdict,
  type ToolResult,
  type UserPrompt,
} from '../../conversations/index.js';
import type { ModelToolCall } from '../../models/index.js';
import { blockReason, contextsIn, type HookCall, hookSteps, isBlocking, reasonIn } from '../domain/hook-call.js';
import { type EventFields, type HookEvent, hookInput } from '../domain/hook-event.js';
import { HooksOfAgents } from './hooks-of-agents.js';
import { HooksOfRuns } from './hooks-of-runs.js';
import { inputBase, RunHandlers } from './run-handlers.js';

const DENIED = 'This call was not made: a hook of the agent denied it.';
const CONTINUE = 'Continue: a hook of the agent requires more work before the reply ends.';

/** The method in which the handlers of each event are called. The compiler asks for a new event here, and for its method in the port. */
interface EventMethods {
  SessionStart: 'beforePrompt';
  UserPromptSubmit: 'beforePrompt';
  PreToolUse: 'beforeToolCall';
  PostToolUse: 'afterToolCall';
  Stop: 'beforeStop';
}

@Injectable()
export class AgentRunHooks extends RunHooks implements Pick<RunHooks, EventMethods[HookEvent]> {
  constructor(
    private readonly hooks: HooksOfRuns,
    private readonly hooksOfAgents: HooksOfAgents,
    private readonly handlers: RunHandlers,
  ) {
    super();
  }

  override async beforePrompt(run: RunContext, { id, text }: UserPrompt): Promise<PromptVerdict> {
    // `SessionStart` handlers are called before any `UserPromptSubmit` handler of the thread.
    await this.hooks.sessionOf(run);
    const about = id === run.userMessage?.id ? {} : { messageId: id };
    const calls = await this.ask(run, { event: 'UserPromptSubmit', prompt: text }, about);
    const reason = blockReason(calls);
    if (reason !== undefined) return { decision: 'block', reason, recorded: true };
    return { decision: 'continue', additionalContext: contextsIn(calls), guards: calls.length > 0 };
  }

  override async beforeSuggestions({ agent, prompt, signal }: SuggestionRequest): Promise<PromptVerdict['decision']> {
    const hooks = await this.hooksOfAgents.of(agent.organizationId, agent.id, agent.version);
    const event = 'UserPromptSubmit';
    const input = hookInput({ threadId: null, runId: null, agentId: agent.id, userContext: null }, { event, prompt });
    const calls = await this.handlers.execute(hooks, hooks.handlers[event], { input, userContext: null, signal });
    return calls.some(isBlocking) ? 'block' : 'continue';
  }

  override async beforeToolCall(run: RunContext, call: ModelToolCall): Promise<ToolCallVerdict> {
    const fields = { event: 'PreToolUse', tool_name: call.name, tool_input: call.input } as const;
    const calls = await this.ask(run, fields, callReference(call));
    const additionalContext = contextsIn(calls);
    const reason = blockReason(calls);
    if (reason !== undefined) return { decision: 'deny', reason: reason ?? DENIED, additionalContext, recorded: true };
    const input = calls.find(({ output }) => output?.updatedInput !== undefined)?.output?.updatedInput;
    return { decision: 'allow', additionalContext, ...(input && { input }) };
  }

  override async afterToolCall(
    run: RunContext,
    call: ModelToolCall,
    { output }: ToolResult,
  ): Promise<readonly string[]> {
    const { name: tool_name, input: tool_input } = call;
    const fields = { event: 'PostToolUse', tool_name, tool_input, tool_response: output } as const;
    const calls = await this.ask(run, fields, callReference(call));
    return calls.flatMap(guidanceIn);
  }

  override async beforeStop(run: RunContext, lastAssistantMessage: string, continued: boolean): Promise<StopVerdict> {
    const fields = { last_assistant_message: lastAssistantMessage, stop_hook_active: continued };
    const calls = await this.ask(run, { event: 'Stop', ...fields });
    const blocking = calls.filter(isBlocking);
    if (blocking.length === 0) return { decision: 'stop' };
    const reasons = blocking.flatMap(({ output }) => reasonIn(output) ?? []);
    const texts = [...(reasons.length === 0 ? [CONTINUE] : reasons), ...contextsIn(calls)];
    return { decision: 'continue', reason: texts.join('\n\n'), recorded: true };
  }

  /** @param about added to the input that the trace shows */
  private async ask(
    run: RunContext,
    fields: EventFields,
    about: Readonly<Record<string, unknown>> = {},
  ): Promise<HookCall[]> {
    const { event } = fields;
    const { userContext, signal } = run;
    const hooks = await this.hooks.of(run);
    if (hooks.handlers[event].length === 0) return [];
    const input = hookInput(inputBase(run), fields);
    const matching = await this.handlers.matching(hooks, event, input);
    const calls = await this.handlers.execute(hooks, matching, { input, userContext, signal });
    run.steps.push(...hookSteps(calls, about));
    return calls;
  }
}

/** Without arguments and result, which the trace shows in the step of the tool call. */
function callReference({ id: toolCallId, name: tool }: ModelToolCall): Readonly<Record<string, unknown>> {
  return { tool, toolCallId };
}

/** The texts that the model reads after a call. A block cannot undo the call, so its reason is one of them. */
function guidanceIn(call: HookCall): string[] {
  const reason = isBlocking(call) ? reasonIn(call.output) : null;
  return [...(call.output?.additionalContext ?? []), ...(reason === null ? [] : [reason])];
}
