import { declinedOutput } from '../domain/approval.js';
import type { Message, ToolCallRecord } from '../domain/message.js';
import type { StoredRun } from '../persistence/run-reader.repository.js';
import {
  componentShown,
  runError,
  type RunEvent,
  runFinished,
  runStarted,
  textContent,
  textEnd,
  textStart,
  toolCallArgs,
  toolCallEnd,
  toolCallResult,
  toolCallStart,
} from './agui-events.js';
import { messageView, outcomeOf, runView } from './presenters.js';

/**
 * Makes the events of a run from the stored run, for a run whose log has expired: the same content and end, in fewer
 * and larger parts.
 */
export function* replayRun(stored: StoredRun, toolProgress: boolean): Generator<RunEvent> {
  const { run, message, model } = stored;
  yield runStarted(run.threadId, run.id);
  yield* replayCalls(stored, toolProgress);
  if (message) {
    for (const component of message.components) yield componentShown(component);
    // An invalid document is stored, and was not sent.
    if (run.error?.code !== 'invalid_structured_output') yield* replayText(message);
  }
  if (run.error) {
    yield runError(run.error);
    return;
  }
  const view = message === null ? null : messageView(message, toolProgress);
  yield runFinished({ run: runView(run), message: view, ...model }, outcomeOf(run));
}

/** For calls that an earlier run has shown only results are sent; calls that wait for approval have no result. */
function* replayCalls({ run, message, decisions }: StoredRun, toolProgress: boolean): Generator<RunEvent> {
  const answered = toolProgress ? (decisions ?? []).filter(({ kind }) => kind === 'approval') : [];
  for (const { toolCallId: id, tool: name, input, ...decision } of answered) {
    if (decision.approved) continue;
    yield replayedResult(run.id, { id, name, input, output: declinedOutput(decision), status: 'denied' });
  }
  if (!message) return;
  const shownBefore = answered.filter(({ approved }) => approved).length;
  const waiting = new Set(run.approvals.map(({ toolCallId }) => toolCallId));
  for (const [index, call] of message.toolCalls.entries()) {
    // A call of the caller's tool is shown if hooks let it pass, whatever the agent hides.
    if (call.byCaller === true ? !waiting.has(call.id) : !toolProgress) continue;
    if (index >= shownBefore) {
      yield toolCallStart(call.id, call.name, message.id);
      yield toolCallArgs(call.id, JSON.stringify(call.input));
      yield toolCallEnd(call.id);
    }
    if (call.output !== undefined && !waiting.has(call.id)) yield replayedResult(message.id, call);
  }
}

function replayedResult(of: string, call: ToolCallRecord): RunEvent {
  return toolCallResult(`${of}/${call.id}`, call);
}

function* replayText(message: Message): Generator<RunEvent> {
  if (message.content === '') return;
  yield textStart(message.id);
  yield textContent(message.id, message.content);
  yield textEnd(message.id);
}
