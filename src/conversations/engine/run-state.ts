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
  changedCalls,
  SEGMENT_BREAK,
  type Message,
  type MessageComponent,
  type MessageStatus,
  type PartPlace,
  type ToolCallRecord,
} from '../domain/message.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { RunOutcome } from '../domain/run.js';
import type { RunContext, RunStep, ShownComponent } from '../ports/index.js';
import type { CachedHistory } from './history-cache.js';
import { contextTokens } from './model-context.js';
import { limitsOf, type RunLimit } from './run-budget.js';
import { SchemaFallbacks } from './schema-fallbacks.js';
import { RunConversation } from './run-conversation.js';
import { ToolOutputBudget } from './tool-output-budget.js';
import { ToolSet } from './tool-set.js';
import {
  componentShown,
  reasoningContent,
  reasoningEnd,
  reasoningStart,
  type RunEvent,
  type StreamComment,
  textContent,
  textEnd,
  textStart,
  toolCallArgs,
  toolCallEnd,
  toolCallResult,
  toolCallStart,
  WAITS_FOR_DATABASE,
} from './agui-events.js';

const CUT_OFF = 'This call was not made: the answer ended before the call was complete.';

/** The place of calls that an earlier run began: this run makes them before the model writes text. */
const RESUMED: PartPlace = { order: 0, offset: 0 };

/** The next step of a run; the engine executes steps until `finish`. */
export type NextStep =
  | { readonly kind: 'call_model' }
  | { readonly kind: 'execute_tools'; readonly calls: readonly ModelToolCall[] }
  | { readonly kind: 'resume_tools'; readonly decisions: readonly ApprovalDecision[] }
  | { readonly kind: 'finish'; readonly outcome: RunOutcome };

/** A call of a tool that the provider runs itself, until it has its result. */
export interface OpenProviderCall {
  readonly call: ModelToolCall;
  /** The index among the run's calls. */
  readonly index: number;
  readonly stopwatch: Stopwatch;
}

/**
 * One run under way: the input for the model, its output so far, and the open parts of the stream. Exists only in
 * memory.
 */
export class RunState {
  /** The system prompt that all conversations of the agent share, and what follows it in this one. */
  system = '';
  conversationSystem = '';
  apiKey: string | undefined;
  /** The route to the provider; undefined for the direct one. */
  route: ModelRoute | undefined;
  /** The thread's newest messages before the run; null until they are loaded. */
  history: CachedHistory | null = null;
  tools = new ToolSet([], 0);
  readonly conversation: RunConversation;
  /** Empty for most runs. */
  readonly limits: readonly RunLimit[];
  readonly toolCalls: ToolCallRecord[] = [];
  readonly components: MessageComponent[] = [];
  readonly providerCalls = new Map<string, OpenProviderCall>();
  readonly outputs = new ToolOutputBudget();
  readonly schemaFallbacks = new SchemaFallbacks();
  text = '';
  rounds = 0;
  /** The model's last text of a run with a response format, which no reader has seen. */
  withheldText = '';
  /** The model has been asked once more for a document of the response format. */
  askedToMend = false;
  /** Calls of the model. A refused request that the run repeats in another form is not a call of its own. */
  modelCalls = 0;
  /** How many answers in a row have ended in an unreadable call. */
  unreadableAnswers = 0;
  /** A stop hook has continued the reply before, in this run or the one that it resumes. */
  continued = false;
  /** The contexts that hooks added to the user's message. */
  promptContext: readonly string[] = [];
  /** Whether the model must call a tool in its next answer. */
  toolChoice: RunContext['toolChoice'];
  /** Why the last model call stopped. */
  stopReason: StopReason | undefined;
  timeToFirstTextMs: number | null = null;
  usage = NO_USAGE;
  /** The known usage: a failed call without usage does not make the earlier calls free. */
  chargedUsage = NO_USAGE;
  /** The message's `createdAt`: when its first text arrived, or when it was first stored. Later than the question's. */
  private beganAt: Date | null = null;
  private textOpen = false;
  private breakDue = false;
  private reasoningId: string | null = null;
  private readonly openCalls = new Map<
    string,
    { readonly name: string; readonly isShown: boolean; argumentsShown: boolean }
  >();
  /** By the id of a call; undefined before the first one. */
  private callPlaces: Map<string, PartPlace> | undefined;
  private shownParts = 0;

  constructor(
    readonly context: RunContext,
    /** The thread's revision when the run started; null when it is not known. */
    readonly revision: number | null,
    /** Sends an event to the readers of the run. */
    private readonly emit: (event: RunEvent | StreamComment) => void,
    private readonly now: () => Date,
    private readonly nextId: () => string,
  ) {
    this.conversation = new RunConversation(context.attached.memory, contextTokens(context.agent));
    this.toolChoice = context.toolChoice;
    this.limits = limitsOf(context.options.limits, context.agent.runLimits);
  }

  get steps(): RunStep[] {
    return this.context.steps;
  }

  /**
   * Call after the last request to the model. Frees its input before the end is stored, which may take long.
   * @param isResumable another run may resume this one
   */
  releaseInput(isResumable: boolean): void {
    this.conversation.end(isResumable);
    this.context.attached.release();
  }

  /** Adds one model call with its tokens; a call without usage makes the run's sum unknown. */
  count(usage: ModelUsage): void {
    this.modelCalls += 1;
    this.usage = addUsage(this.usage, usage);
    this.chargedUsage = addKnownUsage(this.chargedUsage, usage);
  }

  say(delta: string): void {
    if (delta === '') return;
    this.endReasoning();
    const { messageId } = this.context;
    if (!this.textOpen) {
      this.textOpen = true;
      this.emit(textStart(messageId));
    }
    const shown = this.breakDue ? SEGMENT_BREAK + delta : delta;
    this.breakDue = false;
    this.beganAt ??= this.now();
    this.timeToFirstTextMs ??= this.context.stopwatch.elapsedMs();
    this.text += shown;
    this.emit(textContent(messageId, shown));
  }

  think(delta: string): void {
    if (delta === '') return;
    if (this.reasoningId === null) {
      this.reasoningId = this.nextId();
      for (const event of reasoningStart(this.reasoningId)) this.emit(event);
    }
    this.emit(reasoningContent(this.reasoningId, delta));
  }

  startCall(id: string, name: string): void {
    this.endReasoning();
    this.endText();
    if (this.openCalls.has(id)) return;
    // Hooks may still deny a call of the caller's tool, so it is shown by `showCallerCall`.
    const isShown = this.context.agent.toolProgress && !this.tools.isOfCaller(name);
    this.openCalls.set(id, { name, isShown, argumentsShown: false });
    this.callPlaces ??= new Map();
    this.callPlaces.set(id, this.nextPlace());
    if (isShown) this.emit(toolCallStart(id, name, this.context.messageId));
  }

  callArguments(id: string, delta: string): void {
    const open = this.openCalls.get(id);
    if (delta === '' || !open) return;
    open.argumentsShown = true;
    if (open.isShown) this.emit(toolCallArgs(id, delta));
  }

  /** Call when the tool call is complete. Some providers send its input at once, so it may not have been shown yet. */
  endCall({ id, input }: ModelToolCall): void {
    if (this.openCalls.get(id)?.argumentsShown === false) this.callArguments(id, JSON.stringify(input));
    this.closeCall(id);
  }

  /** A call that the caller has to make. All readers get it, even when the agent hides its tool activity. */
  showCallerCall({ id, name, input }: ModelToolCall): void {
    this.emit(toolCallStart(id, name, this.context.messageId));
    this.emit(toolCallArgs(id, JSON.stringify(input)));
    this.emit(toolCallEnd(id));
  }

  /** Readers get it, but it is no part of the run. */
  readonly showOutage = (): void => {
    this.emit(WAITS_FOR_DATABASE);
  };

  /** A stream must not end with open parts. */
  closeOpenParts(): void {
    this.endReasoning();
    this.endText();
    for (const id of this.openCalls.keys()) this.closeCall(id);
  }

  /**
   * The model stopped within these calls, so they are not made. Readers that saw one begin get a result that says so;
   * the transcript omits incomplete calls.
   */
  dropUnfinishedCalls(): void {
    for (const [id, { name }] of [...this.openCalls]) {
      this.closeCall(id);
      const record = this.recordOf({ id, name, input: {} }, 'failed');
      this.settleCall(this.toolCalls.length, { ...record, output: CUT_OFF });
    }
  }

  recordOf({ id, name, input }: ModelToolCall, status: ToolCallRecord['status']): ToolCallRecord {
    return { id, name, input, status, ...(this.tools.isOfCaller(name) ? { byCaller: true } : {}) };
  }

  settleCall(index: number, record: ToolCallRecord): void {
    this.toolCalls[index] = record;
    this.showResult(record);
  }

  /** The caller has the results of its own tools. */
  showResult(record: ToolCallRecord): void {
    if (this.context.agent.toolProgress && record.byCaller !== true) this.emit(toolCallResult(this.nextId(), record));
  }

  /** Shown to all readers, even when the agent hides its tool activity. */
  showComponent({ component, props, fallback, asText }: ShownComponent): void {
    const shown = { id: this.nextId(), component, props, fallback, place: this.nextPlace() };
    this.components.push(shown);
    this.emit(componentShown(shown));
    if (!asText) return;
    this.say(fallback);
    this.endText();
  }

  endText(): void {
    if (!this.textOpen) return;
    this.textOpen = false;
    this.breakDue = true;
    this.emit(textEnd(this.context.messageId));
  }

  private nextPlace(): PartPlace {
    this.shownParts += 1;
    return { order: this.shownParts, offset: this.text.length };
  }

  private withPlaces(calls: readonly ToolCallRecord[]): ToolCallRecord[] {
    return calls.map((call) => ({ ...call, place: this.callPlaces?.get(call.id) ?? RESUMED }));
  }

  private closeCall(id: string): void {
    const open = this.openCalls.get(id);
    if (!open) return;
    this.openCalls.delete(id);
    if (open.isShown) this.emit(toolCallEnd(id));
  }

  private endReasoning(): void {
    if (this.reasoningId === null) return;
    for (const event of reasoningEnd(this.reasoningId)) this.emit(event);
    this.reasoningId = null;
  }

  /** The run's message so far; null while it has neither text nor calls. */
  message(status: MessageStatus, outcome?: RunOutcome): Message | null {
    const content = status === 'incomplete' && this.text === '' ? this.withheldText : this.text;
    if (content === '' && this.toolCalls.length === 0) return null;
    const { messageId, threadId, runId } = this.context;
    return {
      id: messageId,
      threadId,
      runId,
      role: 'assistant',
      content,
      status,
      blocked: outcome?.status === 'completed' && outcome.blocked,
      reaction: null,
      components: [...this.components],
      // After the end of a run no call is under way.
      toolCalls: this.withPlaces(outcome ? changedCalls(this, 'running', { status: 'unknown' }) : this.toolCalls),
      transcript: this.conversation.stored(outcome?.status === 'requires_action'),
      createdAt: (this.beganAt ??= this.now()),
    };
  }
}
