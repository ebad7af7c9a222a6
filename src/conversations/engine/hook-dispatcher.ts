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
} from '../ports/index.js';
import { RUN_HOOKS } from './run-extensions.js';
import type { RunState } from './run-state.js';

/** All the run's hooks as one: asks them in parallel and makes one verdict of theirs. */
@Injectable()
export class HookDispatcher {
  constructor(
    @Inject(RUN_HOOKS) private readonly hooks: readonly RunHooks[],
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async beforePrompt(state: RunState): Promise<PromptVerdict> {
    const verdicts = await this.ask(state, (hooks, context) => hooks.beforePrompt(context));
    const block = verdicts.find((verdict) => verdict.decision === 'block');
    if (block) {
      this.record(state, 'UserPromptSubmit', state.context.userMessage?.text ?? '', block);
      return block;
    }
    return {
      decision: 'continue',
      additionalContext: verdicts.flatMap((verdict) =>
        verdict.decision === 'continue' ? verdict.additionalContext : [],
      ),
    };
  }

  async beforeToolCall(state: RunState, call: ModelToolCall): Promise<ToolCallVerdict> {
    const verdicts = await this.ask(state, (hooks, context) => hooks.beforeToolCall(context, call));
    const denial = verdicts.find((verdict) => verdict.decision === 'deny');
    if (denial) {
      this.record(state, 'PreToolUse', call, denial);
      return denial;
    }
    const changed = verdicts.find((verdict) => verdict.decision === 'allow' && verdict.input !== undefined);
    return changed ?? { decision: 'allow' };
  }

  async afterToolCall(state: RunState, call: ModelToolCall, result: ToolResult): Promise<string[]> {
    return (await this.ask(state, (hooks, context) => hooks.afterToolCall(context, call, result))).flat();
  }

  async beforeStop(state: RunState): Promise<StopVerdict> {
    const { continued, text } = state;
    const verdicts = await this.ask(state, (hooks, context) => hooks.beforeStop(context, text, continued));
    const onward = verdicts.find((verdict) => verdict.decision === 'continue');
    if (!onward || continued) return { decision: 'stop' };
    this.record(state, 'Stop', text, onward);
    return onward;
  }

  private async ask<Answer>(
    { context }: RunState,
    question: (hooks: RunHooks, context: RunContext) => Promise<Answer>,
  ): Promise<Answer[]> {
    if (this.hooks.length === 0) return [];
    const answers = await Promise.allSettled(this.hooks.map((hooks) => question(hooks, context)));
    return answers.flatMap((answer) => {
      if (answer.status === 'fulfilled') return [answer.value];
      this.logger.error({ err: answer.reason as unknown, runId: context.runId }, 'A run hook threw');
      return [];
    });
  }

  /** What a hook changed is a step of the trace; what it let pass is not. */
  private record(state: RunState, name: string, input: unknown, output: unknown): void {
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
