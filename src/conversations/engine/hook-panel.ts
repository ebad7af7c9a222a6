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
  TurnContext,
  TurnHooks,
} from '../ports/index.js';
import { TURN_HOOKS } from './participants.js';
import type { Turn } from './turn.js';

/** All the turn's hooks as one: asks them in parallel and makes one verdict of theirs. */
@Injectable()
export class HookPanel {
  constructor(
    @Inject(TURN_HOOKS) private readonly hooks: readonly TurnHooks[],
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async beforePrompt(turn: Turn): Promise<PromptVerdict> {
    const verdicts = await this.ask(turn, (hooks, context) => hooks.beforePrompt(context));
    const block = verdicts.find((verdict) => verdict.decision === 'block');
    if (block) {
      this.record(turn, 'UserPromptSubmit', turn.context.userMessage?.text ?? '', block);
      return block;
    }
    return {
      decision: 'continue',
      additionalContext: verdicts.flatMap((verdict) =>
        verdict.decision === 'continue' ? verdict.additionalContext : [],
      ),
    };
  }

  async beforeToolCall(turn: Turn, call: ModelToolCall): Promise<ToolCallVerdict> {
    const verdicts = await this.ask(turn, (hooks, context) => hooks.beforeToolCall(context, call));
    const denial = verdicts.find((verdict) => verdict.decision === 'deny');
    if (denial) {
      this.record(turn, 'PreToolUse', call, denial);
      return denial;
    }
    const changed = verdicts.find((verdict) => verdict.decision === 'allow' && verdict.input !== undefined);
    return changed ?? { decision: 'allow' };
  }

  async afterToolCall(turn: Turn, call: ModelToolCall, result: ToolResult): Promise<string[]> {
    return (await this.ask(turn, (hooks, context) => hooks.afterToolCall(context, call, result))).flat();
  }

  async beforeStop(turn: Turn): Promise<StopVerdict> {
    const { continued, text } = turn;
    const verdicts = await this.ask(turn, (hooks, context) => hooks.beforeStop(context, text, continued));
    const onward = verdicts.find((verdict) => verdict.decision === 'continue');
    if (!onward || continued) return { decision: 'stop' };
    this.record(turn, 'Stop', text, onward);
    return onward;
  }

  private async ask<Answer>(
    { context }: Turn,
    question: (hooks: TurnHooks, context: TurnContext) => Promise<Answer>,
  ): Promise<Answer[]> {
    if (this.hooks.length === 0) return [];
    const answers = await Promise.allSettled(this.hooks.map((hooks) => question(hooks, context)));
    return answers.flatMap((answer) => {
      if (answer.status === 'fulfilled') return [answer.value];
      this.logger.error({ err: answer.reason as unknown, runId: context.runId }, 'A turn hook threw');
      return [];
    });
  }

  /** What a hook changed is a step of the trace; what it let pass is not. */
  private record(turn: Turn, name: string, input: unknown, output: unknown): void {
    turn.steps.push({
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
