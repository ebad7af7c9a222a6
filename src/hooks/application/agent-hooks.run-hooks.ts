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
import { blockReason, blocks, contextsOf, type HookCall, reasonOf } from '../domain/hook-call.js';
import { type EventFields, hookInput } from '../domain/hook-input.js';
import { stepsOf } from './hook-steps.js';
import { HooksOfAgents } from './hooks-of-agents.js';
import { HooksOfRuns } from './hooks-of-runs.js';
import { inputBaseOf } from './input-base.js';
import { RunHandlers } from './run-handlers.js';

const DENIED = 'This call was not made: a hook of the agent denied it.';
const GO_ON = 'Go on: a hook of the agent wants more to be done before the reply ends.';

/** Asks the handlers of the agent's hooks document at each event of a run. */
@Injectable()
export class AgentRunHooks extends RunHooks {
  constructor(
    private readonly hooks: HooksOfRuns,
    private readonly hooksOfAgents: HooksOfAgents,
    private readonly handlers: RunHandlers,
  ) {
    super();
  }

  override async beforePrompt(run: RunContext, { id, text }: UserPrompt): Promise<PromptVerdict> {
    // The `SessionStart` handlers hear of the thread before a `UserPromptSubmit` handler hears of a message in it.
    await this.hooks.sessionOf(run);
    const about = id === run.userMessage?.id ? {} : { messageId: id };
    const calls = await this.ask(run, { event: 'UserPromptSubmit', prompt: text }, about);
    const reason = blockReason(calls);
    if (reason !== undefined) return { decision: 'block', reason, recorded: true };
    return { decision: 'continue', additionalContext: contextsOf(calls), guards: calls.length > 0 };
  }

  override async beforeSuggestions({ agent, prompt, signal }: SuggestionRequest): Promise<PromptVerdict['decision']> {
    const hooks = await this.hooksOfAgents.of(agent.organizationId, agent.id, agent.version);
    const event = 'UserPromptSubmit';
    const input = hookInput({ threadId: null, runId: null, agentId: agent.id, userContext: null }, { event, prompt });
    const calls = await this.handlers.execute(hooks, hooks.handlers[event], {
      event,
      input,
      userContext: null,
      signal,
    });
    return calls.some(blocks) ? 'block' : 'continue';
  }

  override async beforeToolCall(run: RunContext, call: ModelToolCall): Promise<ToolCallVerdict> {
    const fields = { event: 'PreToolUse', tool_name: call.name, tool_input: call.input } as const;
    const calls = await this.ask(run, fields, aboutOf(call));
    const additionalContext = contextsOf(calls);
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
    const fields = {
      event: 'PostToolUse',
      tool_name: call.name,
      tool_input: call.input,
      tool_response: output,
    } as const;
    const calls = await this.ask(run, fields, aboutOf(call));
    return calls.flatMap(guidanceOf);
  }

  override async beforeStop(run: RunContext, lastAssistantMessage: string, continued: boolean): Promise<StopVerdict> {
    const fields = {
      event: 'Stop',
      last_assistant_message: lastAssistantMessage,
      stop_hook_active: continued,
    } as const;
    const calls = await this.ask(run, fields);
    const blocking = calls.filter(blocks);
    if (blocking.length === 0) return { decision: 'stop' };
    const reasons = blocking.flatMap(({ output }) => reasonOf(output) ?? []);
    const texts = [...(reasons.length === 0 ? [GO_ON] : reasons), ...contextsOf(calls)];
    return { decision: 'continue', reason: texts.join('\n\n'), recorded: true };
  }

  private async ask(
    run: RunContext,
    fields: EventFields,
    about: Readonly<Record<string, unknown>> = {},
  ): Promise<HookCall[]> {
    const { event } = fields;
    const { userContext, signal } = run;
    const hooks = await this.hooks.of(run);
    if (hooks.handlers[event].length === 0) return [];
    const input = hookInput(inputBaseOf(run), fields);
    const matching = await this.handlers.matching(hooks, event, input);
    const calls = await this.handlers.execute(hooks, matching, { event, input, userContext, signal });
    run.steps.push(...stepsOf(calls, about));
    return calls;
  }
}

/** Its arguments and its result are in the step of the call itself. */
function aboutOf({ id: toolCallId, name: tool }: ModelToolCall): Readonly<Record<string, unknown>> {
  return { tool, toolCallId };
}

/** What the model reads of a handler after a call, which no block can undo. */
function guidanceOf(call: HookCall): string[] {
  const reason = blocks(call) ? reasonOf(call.output) : null;
  return [...(call.output?.additionalContext ?? []), ...(reason === null ? [] : [reason])];
}
