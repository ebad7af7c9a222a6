import type { ReplyProgress } from './apply-event.js';
import { ChatError, failureOf } from './chat-error.js';
import { checkOptions } from './check-options.js';
import {
  type Approval,
  type Chat,
  type ChatFailure,
  type ChatMessage,
  type ChatState,
  type Decisions,
  takesMessages,
  type UploadedFile,
} from './chat-state.js';
import { Conversation } from './conversation.js';
import { followRun } from './follow-run.js';
import type { ChatOptions, ReactionKind } from './options.js';
import { sendReaction } from './reactions.js';
import { keyOfReply, restoreMessage } from './restore-messages.js';
import { pageSeams, type Seams } from './seams.js';
import { StateStore } from './state-store.js';
import { VERSION } from './version.js';
import type { WireAttachment, WireMessage, WireMessageList } from './wire.js';

/** One conversation with an agent, across reloads of the page and lost connections. */
export class ChatClient implements Chat {
  private readonly options: ChatOptions;
  private readonly seams: Seams;
  private readonly store: StateStore;
  private readonly conversation: Conversation;
  private readonly failedListeners = new Set<(failure: ChatFailure) => void>();
  private life = new AbortController();
  /** Aborts the current request for suggestions. */
  private asking = new AbortController();
  private sent = 0;

  /** @throws TypeError for invalid options, with a message for the page's developer */
  constructor(options: ChatOptions, seams: Partial<Seams> = {}) {
    this.seams = { ...pageSeams(), ...seams };
    checkOptions(options, this.seams.location);
    this.options = options;
    const isSession = options.mode === 'session';
    const can = { attach: !isSession, suggest: !isSession, react: !isSession || options.reactions !== undefined };
    this.store = new StateStore(can, this.seams.beforeDrawing);
    this.conversation = new Conversation(options, this.seams, (until) => {
      this.store.wait(until);
    });
  }

  get state(): ChatState {
    return this.store.state;
  }

  subscribe(listener: () => void): () => void {
    return this.store.subscribe(listener);
  }

  onSessionFailed(listener: (failure: ChatFailure) => void): () => void {
    this.failedListeners.add(listener);
    return () => this.failedListeners.delete(listener);
  }

  async start(): Promise<void> {
    const { status, failure } = this.state;
    if (status !== 'idle' && (status !== 'failed' || failure?.terminal)) return;
    this.store.set({ status: 'connecting', failure: null });
    await this.guarded(async (signal) => {
      const remembers = await this.conversation.begin(signal);
      if (remembers) await this.restore(signal);
      if (this.state.status === 'connecting') this.store.set({ status: 'ready' });
    });
  }

  async send(text: string, attachments: readonly WireAttachment[] = []): Promise<void> {
    if (!takesMessages(this.state) || text === '') return;
    this.sent += 1;
    const key = `sent:${String(this.sent)}`;
    const nothing = { id: null, components: [], tools: [], reaction: null };
    const message: ChatMessage = { ...nothing, key, role: 'user', text, attachments, status: 'sending' };
    this.store.set({ messages: [...this.state.messages, message] });
    await this.say(message);
  }

  async retry(key: string): Promise<void> {
    const message = this.state.messages.find((each) => each.key === key);
    if (message?.status !== 'unsent' || this.state.status !== 'ready') return;
    // The message moves after those that have arrived since.
    const again: ChatMessage = { ...message, status: 'sending' };
    this.store.set({ messages: [...this.state.messages.filter((each) => each.key !== key), again] });
    await this.say(again);
  }

  async answer(decisions: Decisions): Promise<void> {
    const { approvals, status } = this.state;
    if (status !== 'awaiting_approval') return;
    const resume = approvals.map(({ interruptId }) => {
      const { approved = false, reason } = decisions.get(interruptId) ?? {};
      return { interruptId, status: 'resolved', payload: { approved, ...(reason === undefined ? {} : { reason }) } };
    });
    await this.run({ resume }, null, approvals);
  }

  async react(messageKey: string, reaction: ReactionKind | null): Promise<void> {
    const message = this.state.messages.find(({ key }) => key === messageKey);
    if (!message?.id || !this.state.can.react) return;
    const { id: messageId, reaction: before } = message;
    this.store.change(messageKey, { reaction });
    try {
      await sendReaction(this.options, this.conversation, { messageId, reaction }, this.seams, this.life.signal);
    } catch (error) {
      this.store.change(messageKey, { reaction: before });
      if (!this.life.signal.aborted) this.store.set({ failure: { ...failureOf(error), terminal: false } });
    }
  }

  upload(file: File): Promise<UploadedFile> {
    return this.conversation.upload(file, this.life.signal);
  }

  async newConversation(): Promise<void> {
    this.close();
    this.conversation.forget();
    this.store.set({ messages: [], truncated: false, approvals: [], suggestions: [], failure: null });
    await this.start();
  }

  close(): void {
    this.life.abort();
    this.asking.abort();
    this.life = new AbortController();
    this.store.set({ status: 'idle', retryAt: null });
  }

  /** Loads the stored conversation, and follows an active run. */
  private async restore(signal: AbortSignal): Promise<void> {
    let list: WireMessageList;
    try {
      if (this.conversation.threadId === null) return;
      list = await this.conversation.messages(signal);
    } catch (error) {
      if (!(error instanceof ChatError) || ![401, 403, 404].includes(error.status)) throw error;
      // The conversation that the tab remembers no longer exists, so a new one starts.
      this.conversation.forget();
      await this.conversation.begin(signal);
      return;
    }
    this.show(list);
    const runId = this.conversation.runId ?? unanswered(list.messages);
    if (runId === undefined) return;
    const { messages } = this.state;
    // The events of the run repeat the reply.
    this.store.set({ status: 'responding', messages: messages.filter(({ key }) => key !== keyOfReply(runId)) });
    await this.follow(signal, { runId });
  }

  private async say(message: ChatMessage): Promise<void> {
    const { text: content, attachments } = message;
    const body = { role: 'user', content, ...(attachments.length === 0 ? {} : { attachments }) };
    await this.run({ message: body }, message, []);
  }

  /** @param pending the approvals to show again if the service does not accept the answers */
  private async run(body: object, said: ChatMessage | null, pending: readonly Approval[]): Promise<void> {
    const { runId: before } = this.conversation;
    this.asking.abort();
    this.conversation.noteRun(null);
    this.store.set({ status: 'responding', approvals: [], suggestions: [], failure: null });
    await this.guarded(async (signal) => {
      let response: Response;
      try {
        const path = `${await this.conversation.runsPath(signal)}/stream`;
        response = await this.conversation.requests.send({
          method: 'POST',
          path,
          body: { ...body, ...this.caller() },
          signal,
        });
      } catch (error) {
        if (said) await this.recover(said, error, signal);
        else this.reopen(error, pending, before, signal);
        return;
      }
      if (said) this.store.change(said.key, { status: 'completed' });
      try {
        await this.follow(signal, { response });
      } catch (error) {
        if (!(error instanceof ChatError) || error.code !== 'network' || !said || this.conversation.runId !== undefined)
          throw error;
        await this.recover(said, error, signal);
      }
    });
  }

  private caller(): object {
    const userContext = this.options.mode === 'session' ? undefined : this.options.userContext;
    return { widget: { version: VERSION }, ...(userContext ? { config: { userContext } } : {}) };
  }

  /** A message without a response may have reached the service: the stored conversation shows whether it did. */
  private async recover(said: ChatMessage, error: unknown, signal: AbortSignal): Promise<void> {
    if (!(error instanceof ChatError)) throw error;
    const isBusy = error.code === 'thread_busy';
    if ((error.code === 'network' || isBusy || error.status >= 500) && this.conversation.threadId !== null) {
      const known = new Set(this.state.messages.flatMap(({ id }) => (id === null ? [] : [id])));
      const list = await this.conversation.messages(signal).catch(() => null);
      const stored = list?.messages.findLast(({ role, runId }) => role === 'user' && runId !== null);
      const isIt = stored?.content === said.text && !known.has(stored.id);
      if (list && stored?.runId && (isIt || isBusy)) {
        this.show(list, isIt ? null : { ...said, status: 'unsent' });
        await this.follow(signal, { runId: stored.runId });
        if (!isIt) this.store.set({ failure: failureOf(error) });
        return;
      }
    }
    this.store.change(said.key, { status: 'unsent' });
    throw error;
  }

  /** Lets the visitor repeat answers that did not reach the service. */
  private reopen(error: unknown, approvals: readonly Approval[], runId: string | undefined, signal: AbortSignal): void {
    signal.throwIfAborted();
    const failure = failureOf(error);
    if (failure.terminal || (error instanceof ChatError && error.status === 400)) throw error;
    this.conversation.noteRun(runId ?? null);
    this.store.set({ status: 'awaiting_approval', approvals, failure });
  }

  private async follow(signal: AbortSignal, from: { runId?: string; response?: Response }): Promise<void> {
    const runsPath = await this.conversation.runsPath(signal);
    const progress = await followRun(this.conversation.requests, this.seams, {
      ...{ ...from, runsPath, signal },
      onProgress: (now) => {
        if (now.runId !== null && now.runId !== this.conversation.runId) this.conversation.noteRun(now.runId);
        this.store.put(now.message);
      },
      onConnected: (connected) => {
        this.store.set({ status: connected ? 'responding' : 'reconnecting' });
      },
    });
    if (progress?.end) this.finish(progress, progress.end, signal);
    else {
      this.conversation.noteRun(null);
      this.show(await this.conversation.messages(signal));
      this.store.set({ status: 'ready' });
    }
  }

  private finish(progress: ReplyProgress, end: NonNullable<ReplyProgress['end']>, signal: AbortSignal): void {
    if (end.kind === 'failed') {
      this.conversation.noteRun(null);
      this.store.set({ status: 'ready', failure: { code: end.code, message: end.message, terminal: false } });
      return;
    }
    const { approvals } = end;
    if (approvals.length > 0) {
      this.store.set({ status: 'awaiting_approval', approvals });
      return;
    }
    this.conversation.noteRun(null);
    this.store.set({ status: 'ready' });
    if (progress.message && this.state.can.suggest) void this.suggest(signal);
  }

  /** Optional: the chat works without suggestions. */
  private async suggest(life: AbortSignal): Promise<void> {
    this.asking = new AbortController();
    const signal = AbortSignal.any([life, this.asking.signal]);
    try {
      const said = this.state.messages.map(({ role, text }) => ({ role, content: text }));
      const suggestions = await this.conversation.suggestions(said, signal);
      if (!signal.aborted) this.store.set({ suggestions });
    } catch {
      // The chat works without suggestions.
    }
  }

  private show(
    { messages, truncated }: { readonly messages: readonly WireMessage[]; readonly truncated: boolean },
    last: ChatMessage | null = null,
  ): void {
    const shown = messages.map(restoreMessage);
    this.store.set({ messages: last ? [...shown, last] : shown, truncated });
  }

  /** Puts a failure into the state, and also reports a terminal one. */
  private async guarded(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.life;
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      const failure = failureOf(error);
      const wasStarting = this.state.status === 'connecting';
      this.store.endStreaming();
      this.store.set({ status: failure.terminal || wasStarting ? 'failed' : 'ready', failure });
      if (failure.terminal) for (const listener of this.failedListeners) listener(failure);
    }
  }
}

/** The run of the last message, if it has no reply yet. */
function unanswered(messages: readonly WireMessage[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === 'user' ? (last.runId ?? undefined) : undefined;
}
