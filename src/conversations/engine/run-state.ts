import {
  addKnownUsage,
  addUsage,
  type ModelRoute,
  type ModelToolCall,
  type ModelUsage,
  NO_USAGE,
  type StopReason,
} from '../../models/index.js';
import type { Stopwatch } from '../../platform/clock/index.js';
import {
  SEGMENT_BREAK,
  type Message,
  type MessageComponent,
  type MessageStatus,
  type ToolCallRecord,
} from '../domain/message.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { RunOutcome } from '../domain/run.js';
import type { RunContext, RunStep, ShownComponent } from '../ports/index.js';
import type { CachedHistory } from './history-cache.js';
import { contextTokens } from './model-context.js';
import { PlainSchemas } from './plain-schemas.js';
import { RunConversation } from './run-conversation.js';
import { ToolOutputs } from './tool-output.js';
import { ToolSet } from './tool-set.js';
import {
  componentShown,
  reasoningContent,
  reasoningEnd,
  reasoningStart,
  type RunEvent,
  textContent,
  textEnd,
  textStart,
  toolCallArgs,
  toolCallEnd,
  toolCallResult,
  toolCallStart,
} from './agui-events.js';

const CUT_OFF = 'This call was not made: the answer ended before the call was complete.';

/** What happens next in a run; the engine switches over it until it says `finish`. */
export type NextStep =
  | { readonly kind: 'call_model' }
  | { readonly kind: 'execute_tools'; readonly calls: readonly ModelToolCall[] }
  | { readonly kind: 'resume_tools'; readonly decisions: readonly ApprovalDecision[] }
  | { readonly kind: 'finish'; readonly outcome: RunOutcome };

/** A call of a tool that the provider runs itself, until it has its result. */
export interface OpenProviderCall {
  readonly call: ModelToolCall;
  /** Of the run's calls. */
  readonly index: number;
  readonly stopwatch: Stopwatch;
}

/**
 * One run under way: what was gathered for the model, what it has said so far, and which parts of
 * the stream are open. Lives in memory from the run's start to its end, and only there.
 */
export class RunState {
  system = '';
  apiKey: string | undefined;
  /** The way to the provider; undefined for the direct one. */
  route: ModelRoute | undefined;
  /** The thread as it was before the run; null until it has been read. */
  tail: CachedHistory | null = null;
  tools = new ToolSet([], 0);
  readonly conversation: RunConversation;
  readonly toolCalls: ToolCallRecord[] = [];
  readonly components: MessageComponent[] = [];
  readonly providerCalls = new Map<string, OpenProviderCall>();
  readonly outputs = new ToolOutputs();
  readonly plainSchemas = new PlainSchemas();
  text = '';
  rounds = 0;
  /** How many answers of the model in a row have ended in a call that cannot be read. */
  unreadableAnswers = 0;
  /** A stop hook has already made the reply go on, in this run or in the one that it resumes. */
  continued = false;
  /** What hooks have put beside the user's message. */
  promptContext: readonly string[] = [];
  /** Why the newest model call stopped. */
  stopReason: StopReason | undefined;
  timeToFirstTextMs: number | null = null;
  /** With its first text, or when it was first stored: the row keeps that. So it never shares its time with the question. */
  private beganAt: Date | null = null;
  private usage = NO_USAGE;
  private charged = NO_USAGE;
  private textOpen = false;
  private breakDue = false;
  private reasoningId: string | null = null;
  private readonly openCalls = new Map<string, { readonly name: string; argumentsShown: boolean }>();

  constructor(
    readonly context: RunContext,
    /** Of the thread when the run began; null where it is not known. */
    readonly revision: number | null,
    private readonly now: () => Date,
    private readonly nextId: () => string,
  ) {
    this.conversation = new RunConversation(context.attached.memory, contextTokens(context.agent));
  }

  get steps(): RunStep[] {
    return this.context.steps;
  }

  get totalUsage(): ModelUsage {
    return this.usage;
  }

  /** What is known to have been used: a call that broke off does not make those before it cost nothing. */
  get chargedUsage(): ModelUsage {
    return this.charged;
  }

  /**
   * No model is called any more: what it was given goes before the end is stored, which may take its time.
   * @param goesOn another run may go on with this one's calls
   */
  forgetInput(goesOn: boolean): void {
    this.conversation.end(goesOn);
    this.context.attached.release();
  }

  /** One model call's tokens; a call that did not tell makes the run's sum unknown. */
  count(usage: ModelUsage): void {
    this.usage = addUsage(this.usage, usage);
    this.charged = addKnownUsage(this.charged, usage);
  }

  *say(delta: string): Generator<RunEvent> {
    if (delta === '') return;
    yield* this.endReasoning();
    const { messageId } = this.context;
    if (!this.textOpen) {
      this.textOpen = true;
      yield textStart(messageId);
    }
    const shown = this.breakDue ? SEGMENT_BREAK + delta : delta;
    this.breakDue = false;
    this.beganAt ??= this.now();
    this.timeToFirstTextMs ??= this.context.stopwatch.elapsedMs();
    this.text += shown;
    yield textContent(messageId, shown);
  }

  *think(delta: string): Generator<RunEvent> {
    if (delta === '') return;
    if (this.reasoningId === null) {
      this.reasoningId = this.nextId();
      yield* reasoningStart(this.reasoningId);
    }
    yield reasoningContent(this.reasoningId, delta);
  }

  *startCall(id: string, name: string): Generator<RunEvent> {
    yield* this.endReasoning();
    yield* this.endText();
    if (this.openCalls.has(id)) return;
    this.openCalls.set(id, { name, argumentsShown: false });
    if (this.context.agent.toolProgress) yield toolCallStart(id, name, this.context.messageId);
  }

  *callArguments(id: string, delta: string): Generator<RunEvent> {
    const open = this.openCalls.get(id);
    if (delta === '' || !open) return;
    open.argumentsShown = true;
    if (this.context.agent.toolProgress) yield toolCallArgs(id, delta);
  }

  /** The call is whole. Some providers send its input at once, so nothing of it has been shown before. */
  *endCall({ id, input }: ModelToolCall): Generator<RunEvent> {
    if (this.openCalls.get(id)?.argumentsShown === false) yield* this.callArguments(id, JSON.stringify(input));
    yield* this.closeCall(id);
  }

  /** Closes whatever is open: a stream never ends with a part of it hanging. */
  *closeOpenParts(): Generator<RunEvent> {
    yield* this.endReasoning();
    yield* this.endText();
    for (const id of this.openCalls.keys()) yield* this.closeCall(id);
  }

  /**
   * The model stopped within these calls, and none of them is made. Who saw one begin is told so, and not
   * left to wait for its result; the model is never shown half a call again.
   */
  *dropUnfinishedCalls(): Generator<RunEvent> {
    for (const [id, { name }] of [...this.openCalls]) {
      yield* this.closeCall(id);
      yield* this.settleCall(this.toolCalls.length, { id, name, input: {}, output: CUT_OFF, status: 'failed' });
    }
  }

  /** Keeps what became of a call, and shows its result. */
  *settleCall(index: number, record: ToolCallRecord): Generator<RunEvent> {
    this.toolCalls[index] = record;
    yield* this.showResult(record);
  }

  *showResult(record: ToolCallRecord): Generator<RunEvent> {
    if (this.context.agent.toolProgress) yield toolCallResult(this.nextId(), record);
  }

  /** Shown to everyone who reads the run, also where the agent's tool activity is not. */
  *showComponent({ component, props, fallback, asText }: ShownComponent): Generator<RunEvent> {
    const shown = { id: this.nextId(), component, props, fallback };
    this.components.push(shown);
    yield componentShown(shown);
    if (!asText) return;
    yield* this.say(fallback);
    yield* this.endText();
  }

  *endText(): Generator<RunEvent> {
    if (!this.textOpen) return;
    this.textOpen = false;
    this.breakDue = true;
    yield textEnd(this.context.messageId);
  }

  private *closeCall(id: string): Generator<RunEvent> {
    if (this.openCalls.delete(id) && this.context.agent.toolProgress) yield toolCallEnd(id);
  }

  private *endReasoning(): Generator<RunEvent> {
    if (this.reasoningId === null) return;
    yield* reasoningEnd(this.reasoningId);
    this.reasoningId = null;
  }

  /** The assistant's message as it stands, or null while there is nothing to keep. */
  message(status: MessageStatus, outcome?: RunOutcome): Message | null {
    if (this.text === '' && this.toolCalls.length === 0) return null;
    const { messageId, threadId, runId } = this.context;
    return {
      id: messageId,
      threadId,
      runId,
      role: 'assistant',
      content: this.text,
      status,
      blocked: outcome?.status === 'completed' && outcome.blocked,
      reaction: null,
      components: [...this.components],
      toolCalls: outcome ? this.toolCalls.map(over) : [...this.toolCalls],
      transcript: this.conversation.stored(outcome?.status === 'requires_action'),
      createdAt: (this.beganAt ??= this.now()),
    };
  }
}

/** Once the run is over nothing is under way any more. */
function over(call: ToolCallRecord): ToolCallRecord {
  return call.status === 'running' ? { ...call, status: 'unknown' } : call;
}
