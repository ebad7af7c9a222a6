import { Injectable } from '@nestjs/common';
import { RunAborted } from '../domain/run-abort.js';
import type { SentMessage } from '../domain/new-thread.js';
import { type JudgedMessage, RunRepository } from '../persistence/run.repository.js';
import type { PromptVerdict } from '../ports/index.js';
import { HookDispatcher } from './hook-dispatcher.js';
import { MAX_JUDGED_PROMPTS } from './limits.js';
import { RunOwner } from './run-owner.js';
import type { RunState } from './run-state.js';

/** Lets hooks check the history that a request sent for its new thread, before a model reads it. */
@Injectable()
export class JudgeSentHistory {
  constructor(
    private readonly hooks: HookDispatcher,
    private readonly runs: RunRepository,
    private readonly owner: RunOwner,
  ) {}

  /**
   * Stores a blocked message and all later ones as blocked. When a hook checks prompts, messages that are older than
   * the checked ones are blocked too. Models never get blocked messages, in later runs neither.
   * @returns the first block, after which the caller must not check the run's own message; otherwise `continue`
   */
  async run(state: RunState): Promise<PromptVerdict> {
    const sent = state.context.sentHistory.splice(0);
    const prompts = sent.flatMap((said, index) => (said.role === 'user' ? [{ ...said, index }] : []));
    // One less than the limit, for the run's own message.
    const asked = prompts.slice(-(MAX_JUDGED_PROMPTS - 1));
    const older = sent.slice(0, prompts.length > asked.length ? asked[0]?.index : 0);
    const judged: JudgedMessage[] = [];
    let guarded = false;
    for (const { id, content: text, index } of asked) {
      const verdict = await this.hooks.beforePrompt(state, { id, text });
      if (verdict.decision === 'block') {
        await this.keep(state, [...judged, ...[...older, ...sent.slice(index)].map(blocked)]);
        return verdict;
      }
      if (verdict.additionalContext.length > 0) judged.push({ id, blocked: false, context: verdict.additionalContext });
      guarded ||= verdict.guards === true;
    }
    await this.keep(state, guarded ? [...judged, ...older.map(blocked)] : judged);
    return { decision: 'continue', additionalContext: [] };
  }

  private async keep(
    { context: { organizationId, runId } }: RunState,
    judged: readonly JudgedMessage[],
  ): Promise<void> {
    if (judged.length === 0) return;
    const stored = await this.runs.keepJudgments({ organizationId, runId, ownerId: this.owner.id }, judged);
    if (!stored) throw new RunAborted('lost_ownership');
  }
}

function blocked({ id }: SentMessage): JudgedMessage {
  return { id, blocked: true, context: null };
}
