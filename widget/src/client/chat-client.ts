import { ChatError, failureOf } from './chat-error.js';
import { checkOptions } from './check-options.js';
import {
  type Chat,
  type ChatEvent,
  type ChatFailure,
  type ChatMessage,
  type ChatState,
  type Decisions,
  takesMessages,
  type UploadedFile,
  type UploadOptions,
} from './chat-state.js';
import { Conversation } from './conversation.js';
import { listConversations } from './history.js';
import type { ChatOptions, ConversationSummary, ReactionKind } from './options.js';
import { sendReaction } from './reactions.js';
import { keyOfReply } from './restore-messages.js';
import { pageSeams, type Seams } from './seams.js';
import { StateStore } from './state-store.js';
import { callIdOf, changeTools } from './tool-calls.js';
import { hasReply, openRun, Turns } from './turns.js';
import type { WireAttachment, WireMessageList } from './wire.js';

/** One conversation with an agent, across reloads of the page and lost connections. */
export class ChatClient implements Chat {
  private readonly options: ChatOptions;
  private readonly seams: Seams;
  private readonly store: StateStore;
  private readonly conversation: Conversation;
  private readonly turns: Turns;
  private readonly eventListeners = new Set<(event: ChatEvent) => void>();
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
    const can = {
      attach: !isSession,
      suggest: !isSession,
      react: !isSession || options.reactions !== undefined,
      listConversations: options.conversations !== undefined,
    };
    this.store = new StateStore(can, this.seams.beforeDrawing);
    this.conversation = new Conversation(options, this.seams, (until) => this.store.wait(until));
    this.turns = new Turns({
      ...{ options, seams: this.seams, store: this.store, conversation: this.conversation },
      tell: (event) => this.tell(event),
      onReply: (signal) => {
        if (can.suggest) void this.suggest(signal);
      },
    });
  }

  get state(): ChatState {
    return this.store.state;
  }

  subscribe(listener: () => void): () => void {
    return this.store.subscribe(listener);
  }

  on(listener: (event: ChatEvent) => void): () => void {
    this.eventListeners.add(listener);
    return () => this.eventListeners.delete(listener);
  }

  async start(): Promise<void> {
    const { status, failure } = this.state;
    if (status !== 'idle' && (status !== 'failed' || failure?.terminal)) return;
    this.store.set({ status: 'connecting', failure: null });
    await this.guarded(async (signal) => {
      const { hasMessages, isRemembered } = await this.conversation.begin(signal);
      this.store.set({ threadId: this.conversation.threadId });
      if (hasMessages) await this.restore(isRemembered, signal);
      if (this.state.status === 'connecting') this.store.set({ status: 'ready' });
    });
  }

  async send(text: string, attachments: readonly WireAttachment[] = []): Promise<void> {
    const isBlank = text.trim() === '';
    if (!takesMessages(this.state) || (isBlank && attachments.length === 0)) return;
    this.sent += 1;
    const key = `sent:${String(this.sent)}`;
    const nothing = { id: null, reaction: null, failure: null };
    const message: ChatMessage = {
      ...nothing,
      ...{ key, role: 'user', text: isBlank ? '' : text, attachments, status: 'sending' },
      parts: isBlank ? [] : [{ kind: 'text', text }],
      createdAt: this.seams.now(),
    };
    this.store.set({ messages: [...this.state.messages, message] });
    await this.say(message);
  }

  async retry(key: string): Promise<void> {
    const { messages } = this.state;
    const message = messages.find((each) => each.key === key);
    if (!message || !takesMessages(this.state)) return;
    if (message.status === 'unsent') {
      // The message moves after those that have arrived since.
      const again: ChatMessage = { ...message, status: 'sending' };
      this.store.set({ messages: [...messages.filter((each) => each.key !== key), again] });
      await this.say(again);
    } else if (message === messages.at(-1) && (message.status === 'failed' || message.status === 'incomplete')) {
      const index = messages.findLastIndex(({ role }) => role === 'user');
      const said = messages[index];
      if (!said) return;
      // The failed try would only repeat the message. A part of a reply stays.
      if (message.parts.length === 0) this.store.set({ messages: messages.slice(0, index) });
      await this.send(said.text, said.attachments);
    }
  }

  async stop(): Promise<void> {
    await this.turns.stop(this.life.signal);
  }

  async answer(decisions: Decisions): Promise<void> {
    const { approvals, status, messages } = this.state;
    if (status !== 'awaiting_approval') return;
    const approved = new Map<string, boolean>();
    const resume = approvals.map((approval) => {
      const { interruptId } = approval;
      const { approved: isApproved = false, reason } = decisions.get(interruptId) ?? {};
      approved.set(callIdOf(approval), isApproved);
      const payload = { approved: isApproved, ...(reason === undefined ? {} : { reason }) };
      return { interruptId, status: 'resolved', payload };
    });
    const answered = changeTools(messages, (tool) => {
      const isApproved = approved.get(tool.id);
      return isApproved === undefined ? tool : { ...tool, status: isApproved ? 'running' : 'denied' };
    });
    this.store.set({ messages: answered });
    this.asking.abort();
    await this.guarded((signal) => this.turns.answer(resume, approvals, signal));
  }

  async react(messageKey: string, reaction: ReactionKind | null, comment?: string): Promise<boolean> {
    const message = this.state.messages.find(({ key }) => key === messageKey);
    if (!message?.id || !this.state.can.react) return false;
    const { id: messageId, reaction: before } = message;
    const { signal } = this.life;
    this.store.change(messageKey, { reaction });
    try {
      const rating = { messageId, reaction, ...(comment === undefined ? {} : { comment }) };
      await sendReaction(this.options, this.conversation, rating, this.seams, signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.store.change(messageKey, { reaction: before });
      const { message: reason } = failureOf(error);
      this.fail({ code: 'reaction', message: reason, terminal: false });
      return false;
    }
  }

  async upload(file: File, options: UploadOptions = {}): Promise<UploadedFile> {
    const { signal: life } = this.life;
    const signal = options.signal ? AbortSignal.any([life, options.signal]) : life;
    return this.reported(signal, () => this.conversation.upload(file, options, signal));
  }

  async listConversations(): Promise<readonly ConversationSummary[]> {
    const { signal } = this.life;
    return this.reported(signal, () => listConversations(this.options, this.seams, signal));
  }

  async openConversation(threadId: string): Promise<void> {
    this.leave();
    this.conversation.open(threadId);
    await this.start();
  }

  async newConversation(): Promise<void> {
    this.leave();
    this.conversation.startNew();
    await this.start();
  }

  close(): void {
    this.life.abort();
    this.asking.abort();
    this.life = new AbortController();
    this.store.close();
  }

  private leave(): void {
    this.close();
    const nothing = { messages: [], approvals: [], suggestions: [], failure: null, threadId: null };
    this.store.set({ ...nothing, truncated: false });
  }

  /** Loads the stored conversation, and follows a run that is under way or waits for approval. */
  private async restore(isRemembered: boolean, signal: AbortSignal): Promise<void> {
    let list: WireMessageList;
    try {
      list = await this.conversation.messages(signal);
    } catch (error) {
      const isGone = error instanceof ChatError && [401, 403, 404].includes(error.status);
      if (!isGone || !isRemembered) throw error;
      // The conversation that the tab remembers no longer exists, so a new one starts.
      this.conversation.forget();
      const { hasMessages } = await this.conversation.begin(signal);
      this.store.set({ threadId: this.conversation.threadId });
      if (hasMessages) await this.restore(false, signal);
      return;
    }
    this.turns.show(list);
    const runId = openRun(list.messages, this.conversation.runId);
    if (runId === undefined) return;
    const { messages } = this.state;
    // The events of the run repeat the reply.
    this.store.set({ status: 'responding', messages: messages.filter(({ key }) => key !== keyOfReply(runId)) });
    await this.turns.follow(signal, { runId }, !hasReply(messages, runId));
  }

  private async say(message: ChatMessage): Promise<void> {
    const { approvals } = this.state;
    this.asking.abort();
    await this.guarded((signal) => this.turns.say(message, approvals, signal));
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

  private tell(event: ChatEvent): void {
    for (const listener of this.eventListeners) listener(event);
  }

  private fail(failure: ChatFailure): void {
    this.tell({ type: 'chatError', failure });
    if (failure.terminal) this.tell({ type: 'sessionFailed', failure });
  }

  /** Puts a failure into the state, and reports it. */
  private async guarded(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.life;
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      const failure = failureOf(error);
      const wasStarting = this.state.status === 'connecting';
      const status = failure.terminal || wasStarting ? 'failed' : 'ready';
      this.store.set({ status, failure, isStopping: false });
      this.fail(failure);
    }
  }

  /** Reports a failure that does not change the conversation. @throws ChatError; the signal's reason when it aborts */
  private async reported<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const { code, message } = failureOf(error);
      this.fail({ code, message, terminal: false });
      throw error instanceof ChatError ? error : new ChatError(code, message);
    }
  }
}
