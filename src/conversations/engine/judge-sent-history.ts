import type { SentMessage } from '../domain/new-thread.js';
import type { JudgedMessage, RunRepository } from '../persistence/run.repository.js';
import type { PromptVerdict } from '../ports/index.js';
import type { DatabaseOutage } from './database-outage.js';
import type { HookDispatcher } from './hook-dispatcher.js';
import { MAX_JUDGED_PROMPTS } from './limits.js';
import type { RunState } from './run-state.js';

/**
 * Lets hooks check the history that a request sent for its new thread, before a model reads it. Stores a blocked message
 * and all later ones as blocked. When a hook checks prompts, messages that are older than the checked ones are blocked
 * too. Models never get blocked messages, in later runs neither.
 * @returns the first block, after which the caller must not check the run's own message; otherwise `continue`
 */
export async function judgeSentHistory(
  state: RunState,
  hooks: HookDispatcher,
  runs: RunRepository,
  outage: DatabaseOutage,
): Promise<PromptVerdict> {
  const sent = state.context.sentHistory.splice(0);
  const prompts = sent.flatMap((said, index) => (said.role === 'user' ? [{ ...said, index }] : []));
  // One less than the limit, for the run's own message.
  const asked = prompts.slice(-(MAX_JUDGED_PROMPTS - 1));
  const older = sent.slice(0, prompts.length > asked.length ? asked[0]?.index : 0);
  const judged: JudgedMessage[] = [];
  let result: PromptVerdict = { decision: 'continue', additionalContext: [] };
  let guarded = false;
  for (const { id, content: text, index } of asked) {
    const verdict = await hooks.beforePrompt(state, { id, text });
    if (verdict.decision === 'block') {
      judged.push(...sent.slice(index).map(blocked));
      guarded = true;
      result = verdict;
      break;
    }
    if (verdict.additionalContext.length > 0) judged.push({ id, blocked: false, context: verdict.additionalContext });
    guarded ||= verdict.guards === true;
  }
  if (guarded) judged.push(...older.map(blocked));
  if (judged.length > 0) await outage.during(state, () => runs.keepJudgments(state.context, judged));
  return result;
}

function blocked({ id }: SentMessage): JudgedMessage {
  return { id, blocked: true, context: null };
}
