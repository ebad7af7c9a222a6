import type { Message } from '../domain/message.js';
import type { Run } from '../domain/run.js';
import {
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
import { messageView, runView } from './wire.js';

export interface ReplayedRun {
  readonly run: Run;
  readonly message: Message | null;
  readonly provider: string;
  readonly model: string;
  readonly toolProgress: boolean;
}

/**
 * The events of a run whose log is no longer kept, made again from what is stored: the same content and
 * the same end, in fewer and larger parts.
 */
export function* replayRun({ run, message, provider, model, toolProgress }: ReplayedRun): Generator<RunEvent> {
  yield runStarted(run.threadId, run.id);
  if (message) yield* replayMessage(message, toolProgress);
  if (run.error) {
    yield runError(run.error);
    return;
  }
  const view = message === null ? null : messageView(message, toolProgress);
  const outcome = run.status === 'cancelled' ? 'cancelled' : 'success';
  yield runFinished({ run: runView(run), message: view, provider, model }, outcome);
}

function* replayMessage(message: Message, toolProgress: boolean): Generator<RunEvent> {
  if (toolProgress) {
    for (const call of message.toolCalls) {
      yield toolCallStart(call.id, call.name, message.id);
      yield toolCallArgs(call.id, JSON.stringify(call.input));
      yield toolCallEnd(call.id);
      if (call.output !== undefined) yield toolCallResult(`${message.id}/${call.id}`, call);
    }
  }
  if (message.content === '') return;
  yield textStart(message.id);
  yield textContent(message.id, message.content);
  yield textEnd(message.id);
}
