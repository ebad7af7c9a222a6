import { Inject, Injectable } from '@nestjs/common';
import type { ModelToolCall } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { newId } from '../../platform/ids/index.js';
import type {
  PromptVerdict,
  StopVerdict,
  ToolCallVerdict,
  ToolResult,
  RunContext,
  RunHooks,
  SuggestionRequest,
  UserPrompt,
} from '../ports/index.js';
import { DatabaseOutage } from './database-outage.js';
import { RUN_HOOKS } from './run-extensions.js';
import type { RunState } from './run-state.js';

const BROKEN_PROMPT_HOOK: PromptVerdict = { decision: 'block', reason: null };
const BROKEN_CALL_HOOK: ToolCallVerdict = {
  decision: 'deny',
  reason: 'This call was not made: a check before it failed. Continue without it, or tell the user.',
};

/** Calls all hooks of a run in parallel and combines their verdicts into one. */
@Injectable()
export class HookDispatcher {
  constructor(
    @Inject(RUN_HOOKS) private readonly hooks: readonly RunHooks[],
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly outage: DatabaseOutage,
  ) {}

  async beforePrompt(state: RunState, prompt: UserPrompt): Promise<PromptVerdict> {
    const verdicts = await this.ask(
      state.context,
      (hooks) => this.outage.during(state, () => hooks.beforePrompt(state.context, prompt)),
      BROKEN_PROMPT_HOOK,
    );
    const block = verdicts.find((verdict) => verdict.decision === 'block');
    if (block) {
      this.record(state, 'UserPromptSubmit', prompt.text, block);
      return block;
    }
    return {
      decision: 'continue',
      additionalContext: verdicts.flatMap((verdict) =>
        verdict.decision === 'continue' ? verdict.additionalContext : [],
      ),
      guards: verdicts.some((verdict) => verdict.decision === 'continue' && verdict.guards === true),
    };
  }

  async beforeSuggestions(request: SuggestionRequest): Promise<PromptVerdict['decision']> {
    const decisions = await this.ask(request, (hooks) => hooks.beforeSuggestions(request), 'block');
    return decisions.includes('block') ? 'block' : 'continue';
  }

  async beforeToolCall(state: RunState, call: ModelToolCall): Promise<ToolCallVerdict> {
    const verdicts = await this.ask(
      state.context,
      (hooks) => hooks.beforeToolCall(state.context, call),
      BROKEN_CALL_HOOK,
    );
    const additionalContext = verdicts.flatMap((verdict) => verdict.additionalContext ?? []);
    const denial = verdicts.find((verdict) => verdict.decision === 'deny');
    if (denial) {
      this.record(state, 'PreToolUse', call, denial);
      return { ...denial, additionalContext };
    }
    const changed = verdicts.find((verdict) => verdict.decision === 'allow' && verdict.input !== undefined);
    return { decision: 'allow', ...changed, additionalContext };
  }

  async afterToolCall(state: RunState, call: ModelToolCall, result: ToolResult): Promise<string[]> {
    return (await this.ask(state.context, (hooks) => hooks.afterToolCall(state.context, call, result), [])).flat();
  }

  async beforeStop(state: RunState, answer: string): Promise<StopVerdict> {
    const { continued, context } = state;
    const neutral: StopVerdict = { decision: 'stop' };
    const verdicts = await this.ask(context, (hooks) => hooks.beforeStop(context, answer, continued), neutral);
    const continuing = verdicts.filter((verdict) => verdict.decision === 'continue');
    const [first] = continuing;
    if (!first || continued) return neutral;
    for (const verdict of continuing) this.record(state, 'Stop', answer, verdict);
    return { decision: 'continue', reason: continuing.map(({ reason }) => reason).join('\n\n') };
  }

  /**
   * Calls all hooks in parallel. An event whose answers need no combining needs only this method (`docs/extending/hook-event.md`).
   * @param broken the answer of a hook that throws
   */
  async ask<Answer>(
    { agent, signal, runId }: Pick<RunContext, 'agent' | 'signal'> & { readonly runId?: string },
    question: (hooks: RunHooks) => Promise<Answer>,
    broken: Answer,
  ): Promise<Answer[]> {
    const answers = await Promise.allSettled(this.hooks.map(question));
    // An aborted run aborts its hooks; their failures are then no verdicts.
    signal.throwIfAborted();
    return answers.map((answer) => {
      if (answer.status === 'fulfilled') return answer.value;
      this.logger.error({ err: answer.reason as unknown, agentId: agent.id, runId }, 'A run hook threw');
      return broken;
    });
  }

  /** Adds a step to the trace, unless the hook has added its own. */
  private record(
    state: RunState,
    name: string,
    input: unknown,
    verdict: PromptVerdict | ToolCallVerdict | StopVerdict,
  ): void {
    const { recorded = false, ...output } = verdict;
    if (recorded) return;
    state.steps.push({
      id: newId(),
      type: 'hook',
      name,
      startedAt: this.clock.now(),
      latencyMs: 0,
      input,
      output,
      error: null,
    });
  }
}
