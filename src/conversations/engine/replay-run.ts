import { declinedOutput } from '../domain/approval.js';
import type { PartPlace, ToolCallRecord } from '../domain/message.js';
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
import { ShownEvents } from './shown-events.js';

/** Events of a reply besides its text, and where in the reply they are; messages of earlier versions do not say. */
interface Part {
  readonly place?: PartPlace | undefined;
  readonly events: readonly RunEvent[];
}

/**
 * Makes the events of a run from the stored run, for a run whose log cannot be read: the same content and end, in fewer
 * and larger pieces.
 * @param shown what the reader has been sent already; it gets the rest
 */
export function* replayRun(stored: StoredRun, toolProgress: boolean, shown = new ShownEvents()): Generator<RunEvent> {
  const { run, message, model } = stored;
  if (!shown.hasStarted) yield runStarted(run.threadId, run.id);
  yield* shown.closings(message?.toolCalls ?? []);
  const text = new RestOfText(stored, shown);
  for (const { place, events } of partsOf(stored, toolProgress)) {
    const rest = events.filter((event) => !shown.has(event));
    if (rest.length === 0) continue;
    yield* text.upTo(place?.offset ?? 0);
    yield* text.close();
    yield* rest;
  }
  yield* text.upTo(Infinity);
  yield* text.close();
  if (run.error) {
    yield runError(run.error);
    return;
  }
  const view = message === null ? null : messageView(message, toolProgress);
  yield runFinished({ run: runView(run), message: view, ...model }, outcomeOf(run));
}

/** The text that is still to be sent. */
class RestOfText {
  private readonly id: string;
  private readonly content: string;
  private at: number;
  private isOpen: boolean;

  constructor({ run, message }: StoredRun, shown: ShownEvents) {
    this.id = message?.id ?? shown.textId;
    // An invalid document is stored, and was not sent. Of a process that died less may be stored than was shown.
    const isSent = run.error?.code !== 'invalid_structured_output' && message?.content.startsWith(shown.text) === true;
    this.content = isSent ? message.content : shown.text;
    this.at = shown.text.length;
    this.isOpen = shown.textIsOpen;
  }

  *upTo(offset: number): Generator<RunEvent> {
    const delta = this.content.slice(this.at, offset);
    if (delta === '') return;
    if (!this.isOpen) yield textStart(this.id);
    yield textContent(this.id, delta);
    this.isOpen = true;
    this.at += delta.length;
  }

  *close(): Generator<RunEvent> {
    if (this.isOpen) yield textEnd(this.id);
    this.isOpen = false;
  }
}

/** In the order in which they were shown. */
function partsOf(stored: StoredRun, toolProgress: boolean): Part[] {
  const components = stored.message?.components ?? [];
  const parts = [
    ...callsOf(stored, toolProgress),
    ...components.map((component) => ({ place: component.place, events: [componentShown(component)] })),
  ];
  return parts.sort((one, other) => (one.place?.order ?? 0) - (other.place?.order ?? 0));
}

/** For calls that an earlier run has shown only results are sent; calls that wait for approval have no result. */
function* callsOf({ run, message, decisions }: StoredRun, toolProgress: boolean): Generator<Part> {
  const answered = toolProgress ? (decisions ?? []).filter(({ kind }) => kind === 'approval') : [];
  for (const { toolCallId: id, tool: name, input, ...decision } of answered) {
    if (decision.approved) continue;
    const call = { id, name, input, output: declinedOutput(decision), status: 'denied' } as const;
    yield { events: [replayedResult(run.id, call)] };
  }
  if (!message) return;
  const shownBefore = answered.filter(({ approved }) => approved).length;
  const waiting = new Set(run.approvals.map(({ toolCallId }) => toolCallId));
  for (const [index, call] of message.toolCalls.entries()) {
    // A call of the caller's tool is shown if hooks let it pass, whatever the agent hides.
    if (call.byCaller === true ? !waiting.has(call.id) : !toolProgress) continue;
    const begun = [
      toolCallStart(call.id, call.name, message.id),
      toolCallArgs(call.id, JSON.stringify(call.input)),
      toolCallEnd(call.id),
    ];
    const hasResult = call.output !== undefined && !waiting.has(call.id);
    yield {
      place: call.place,
      events: [...(index >= shownBefore ? begun : []), ...(hasResult ? [replayedResult(message.id, call)] : [])],
    };
  }
}

function replayedResult(of: string, call: ToolCallRecord): RunEvent {
  return toolCallResult(`${of}/${call.id}`, call);
}
