import type { ReplyProgress } from './apply-event.js';
import { ChatError, failureOf } from './chat-error.js';
import type { Approval, ChatEvent, ChatFailure, ChatMessage } from './chat-state.js';
import type { Conversation } from './conversation.js';
import { followRun } from './follow-run.js';
import type { ChatOptions } from './options.js';
import { contentOf, keyOfReply, restoreMessage } from './restore-messages.js';
import type { Seams } from './seams.js';
import type { StateStore } from './state-store.js';
import { callIdOf, changeStatus, changeTools, withEachCallOnce } from './tool-calls.js';
import { VERSION } from './version.js';
import type { WireMessage, WireMessageList } from './wire.js';

export interface TurnParts {
  readonly options: ChatOptions;
  readonly seams: Seams;
  readonly store: StateStore;
  readonly conversation: Conversation;
  readonly tell: (event: ChatEvent) => void;
  /** Called after a reply that the visitor may continue. */
  readonly onReply: (signal: AbortSignal) => void;
}

interface Turn {
  /** A `message` or a `resume`. */
  readonly body: object;
  readonly said: ChatMessage | null;
  /** The approvals that the turn answers or declines. */
  readonly approvals: readonly Approval[];
}

type ReplyEnd = NonNullable<ReplyProgress['end']>;

/** Begins the runs of a conversation, follows their replies and stops them. */
export class Turns {
  private readonly parts: TurnParts;
  /** The run that is followed. */
  private followed: { runId: string | null; position: number } | null = null;
  /** Ends the wait before a message or answers are sent. */
  private waiting: AbortController | null = null;

  constructor(parts: TurnParts) {
    this.parts = parts;
  }

  /** @throws ChatError; the signal's reason when it aborts */
  async say(said: ChatMessage, approvals: readonly Approval[], signal: AbortSignal): Promise<void> {
    const { attachments } = said;
    const message = { role: 'user', content: contentOf(said), ...(attachments.length === 0 ? {} : { attachments }) };
    await this.run({ body: { message }, said, approvals }, signal);
  }

  /** @throws ChatError; the signal's reason when it aborts */
  async answer(resume: readonly object[], approvals: readonly Approval[], signal: AbortSignal): Promise<void> {
    await this.run({ body: { resume }, said: null, approvals }, signal);
  }

  /** Ends the reply under way, at the latest when its run is known. What waits to be sent is not sent. */
  async stop(signal: AbortSignal): Promise<void> {
    const { store } = this.parts;
    const { status, isStopping } = store.state;
    if (status === 'waiting') this.waiting?.abort();
    if (isStopping || !(status === 'responding' || status === 'reconnecting')) return;
    store.set({ isStopping: true });
    await this.cancel(signal);
  }

  /** Shows stored messages, and after them one that is not stored. */
  show({ messages, truncated }: WireMessageList, last: ChatMessage | null = null): void {
    const shown = withEachCallOnce(messages.map(restoreMessage));
    this.parts.store.set({ messages: last ? [...shown, last] : shown, truncated });
  }

  /**
   * Follows a run to the end of its reply.
   * @param from the run, or the response that began it
   * @param isNews whether the visitor has not seen the end of the reply before
   * @throws ChatError; the signal's reason when it aborts
   */
  async follow(signal: AbortSignal, from: { runId?: string; response?: Response }, isNews = true): Promise<void> {
    const { store, conversation, seams } = this.parts;
    const followed = { runId: from.runId ?? null, position: 0 };
    this.followed = followed;
    if (followed.runId !== null && store.state.isStopping) void this.cancel(signal);
    try {
      const runsPath = await conversation.runsPath(signal);
      const progress = await followRun(conversation.requests, seams, {
        ...{ ...from, runsPath, signal },
        onProgress: (now, position) => {
          followed.position = position;
          this.noteRun(now.runId, signal);
          store.put(now);
        },
        onConnected: (connected) => store.set({ status: connected ? 'responding' : 'reconnecting' }),
      });
      if (progress?.end) this.finish(progress, progress.end, isNews, signal);
      else await this.showStored(signal);
    } catch (error) {
      if (!signal.aborted && followed.runId !== null) store.breakOff(followed.runId, failureOf(error));
      throw error;
    } finally {
      // A conversation that was closed may have been followed by another one.
      if (this.followed === followed) this.followed = null;
      if (!signal.aborted) store.set({ isStopping: false });
    }
  }

  private noteRun(runId: string | null, signal: AbortSignal): void {
    const { followed } = this;
    const { store, conversation } = this.parts;
    if (!followed || runId === null) return;
    if (runId !== conversation.runId) conversation.noteRun(runId);
    if (runId === followed.runId) return;
    followed.runId = runId;
    if (store.state.isStopping) void this.cancel(signal);
  }

  /** Never rejects. The stream that is followed brings the end of the run. */
  private async cancel(signal: AbortSignal): Promise<void> {
    const { followed } = this;
    const { runId = null, position: startingAfter } = followed ?? {};
    if (runId === null) return;
    const { conversation, store, tell } = this.parts;
    try {
      const response = await conversation.requests.send({
        method: 'POST',
        path: `${await conversation.runsPath(signal)}/stream`,
        body: { cancel: { runId, startingAfter } },
        signal,
        repeatable: true,
        quiet: true,
      });
      await response.body?.cancel();
    } catch (error) {
      if (signal.aborted || this.followed !== followed) return;
      store.set({ isStopping: false });
      tell({ type: 'chatError', failure: { ...failureOf(error), terminal: false } });
    }
  }

  private async run(turn: Turn, signal: AbortSignal): Promise<void> {
    const { conversation, store } = this.parts;
    const { runId: before } = conversation;
    conversation.noteRun(null);
    store.set({ status: 'responding', approvals: [], suggestions: [], failure: null });
    let response: Response;
    const waiting = new AbortController();
    this.waiting = waiting;
    try {
      response = await this.begin(turn, AbortSignal.any([signal, waiting.signal]));
    } catch (error) {
      if (waiting.signal.aborted && !signal.aborted) {
        await this.reopen(turn, NOT_SENT, before, signal);
        return;
      }
      if (turn.said && (await this.recover(turn.said, error, signal))) return;
      await this.reopen(turn, ofFiles(error, turn.said), before, signal);
      return;
    }
    this.accepted(turn.said);
    try {
      await this.follow(signal, { response });
    } catch (error) {
      const isLost = error instanceof ChatError && error.code === 'network' && conversation.runId === undefined;
      if (!turn.said || !isLost) throw error;
      if (await this.recover(turn.said, error, signal)) return;
      store.change(turn.said.key, { status: 'unsent' });
      throw error;
    }
  }

  private async begin({ body }: Turn, signal: AbortSignal): Promise<Response> {
    const { conversation, store } = this.parts;
    const path = `${await conversation.runsPath(signal)}/stream`;
    store.set({ threadId: conversation.threadId });
    return conversation.requests.send({ method: 'POST', path, body: { ...body, ...this.caller() }, signal });
  }

  private caller(): object {
    const { options } = this.parts;
    const userContext = options.mode === 'session' ? undefined : options.userContext;
    return { widget: { version: VERSION }, ...(userContext ? { config: { userContext } } : {}) };
  }

  private accepted(said: ChatMessage | null): void {
    const { store, tell } = this.parts;
    if (!said) return;
    store.change(said.key, { status: 'completed' });
    store.set({ messages: changeStatus(store.state.messages, 'awaiting_approval', 'denied') });
    tell({ type: 'messageSent', message: { ...said, status: 'completed' } });
  }

  /**
   * A message without a response may have reached the service: the stored conversation shows whether it did.
   * @returns whether its reply, or that of another page, was followed to its end
   */
  private async recover(said: ChatMessage, error: unknown, signal: AbortSignal): Promise<boolean> {
    if (!(error instanceof ChatError)) throw error;
    const { conversation, store, tell } = this.parts;
    const isBusy = error.code === 'thread_busy';
    const isUncertain = error.code === 'network' || isBusy || error.status >= 500;
    if (!isUncertain || conversation.threadId === null) return false;
    const known = new Set(store.state.messages.flatMap(({ id }) => (id === null ? [] : [id])));
    const list = await conversation.messages(signal).catch(() => null);
    const stored = list?.messages.findLast(({ role, runId }) => role === 'user' && runId !== null);
    const isIt = stored?.content === contentOf(said) && !known.has(stored.id);
    if (!list || !stored?.runId || !(isIt || isBusy)) return false;
    this.show(list, isIt ? null : { ...said, status: 'unsent' });
    if (isIt) tell({ type: 'messageSent', message: restoreMessage(stored) });
    await this.follow(signal, { runId: stored.runId });
    if (!isIt) {
      const failure = failureOf(error);
      store.set({ failure });
      tell({ type: 'chatError', failure });
    }
    return true;
  }

  /** Lets the visitor repeat what did not reach the service. */
  private async reopen(
    { said, approvals }: Turn,
    error: unknown,
    runId: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const { conversation, store, tell } = this.parts;
    if (said) store.change(said.key, { status: 'unsent' });
    const failure = failureOf(error);
    if (error === NOT_SENT && approvals.length === 0) {
      store.set({ status: 'ready' });
      return;
    }
    if (failure.terminal || approvals.length === 0) throw error;
    if (!said && error instanceof ChatError && error.status === 400) {
      // The approvals have expired, or another page has answered them.
      const { status } = error;
      await this.showStored(signal);
      throw new ChatError('approval_closed', failure.message, { status });
    }
    const open = new Set(approvals.map(callIdOf));
    const messages = changeTools(store.state.messages, (tool) =>
      open.has(tool.id) ? { ...tool, status: 'awaiting_approval' } : tool,
    );
    conversation.noteRun(runId ?? null);
    store.set({ status: 'awaiting_approval', approvals, failure, messages, isStopping: false });
    tell({ type: 'chatError', failure });
  }

  private async showStored(signal: AbortSignal): Promise<void> {
    const { conversation, store } = this.parts;
    conversation.noteRun(null);
    const list = await conversation.messages(signal);
    this.show(list);
    const last = list.messages.at(-1);
    if (last?.role === 'user' && last.runId !== null) store.breakOff(last.runId, NO_REPLY_STORED);
    store.set({ status: 'ready', approvals: [] });
  }

  private finish({ message: reply }: ReplyProgress, end: ReplyEnd, isNews: boolean, signal: AbortSignal): void {
    const { conversation, store, tell, onReply } = this.parts;
    // The service does not tell what came of approved calls of an agent that hides them.
    const messages = changeStatus(store.state.messages, 'running', 'approved');
    store.set({ messages, isStopping: false });
    const shown = messages.find(({ key }) => key === reply?.key);
    if (end.kind === 'finished' && end.approvals.length > 0) {
      store.set({ status: 'awaiting_approval', approvals: end.approvals });
    } else {
      conversation.noteRun(null);
      store.set({ status: 'ready', ...(end.kind === 'failed' ? { failure: end.failure } : {}) });
      if (end.kind === 'failed') tell({ type: 'chatError', failure: end.failure });
      else if (shown?.status === 'completed') onReply(signal);
    }
    if (shown && isNews) tell({ type: 'replyFinished', message: shown });
  }
}

/** The service has one code for a message whose files it cannot use and for an agent that cannot answer. */
function ofFiles(error: unknown, said: ChatMessage | null): unknown {
  const isOfFiles = error instanceof ChatError && error.status === 422 && said && said.attachments.length > 0;
  return isOfFiles ? new ChatError('attachment_failed', error.message, { status: error.status }) : error;
}

/** The visitor did not wait. */
const NOT_SENT = new ChatError('not_sent', 'The visitor ended the wait before the message was sent.');
const NO_REPLY_STORED: ChatFailure = { code: 'no_reply', message: 'The run ended without a reply.', terminal: false };

/**
 * The run of a stored conversation that may be under way or wait for approval.
 * @param remembered the run that was active when the visitor left the page
 */
export function openRun(messages: readonly WireMessage[], remembered: string | undefined): string | undefined {
  const last = messages.at(-1);
  const isOlder = messages.some(({ runId }) => runId === remembered) && last?.runId !== remembered;
  // Another page may have continued the conversation.
  if (remembered !== undefined && !isOlder) return remembered;
  const isOpen =
    last?.role === 'user' ||
    last?.status === 'incomplete' ||
    last?.toolCalls?.some(({ status }) => status === 'awaiting_approval' || status === 'running');
  return isOpen ? (last?.runId ?? undefined) : undefined;
}

/** Whether the end of the run's reply is stored, so that a page has shown it before. */
export function hasReply(messages: readonly ChatMessage[], runId: string): boolean {
  return messages.some(({ key, status }) => key === keyOfReply(runId) && status === 'completed');
}
