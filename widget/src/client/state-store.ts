import { brokenOff, newReply, type ReplyProgress } from './apply-event.js';
import type { ChatFailure, ChatMessage, ChatState, ChatStatus } from './chat-state.js';
import { keyOfReply } from './restore-messages.js';
import { withEachCallOnce } from './tool-calls.js';

/** The state of a chat and its listeners. */
export class StateStore {
  private current: ChatState;
  private readonly listeners = new Set<() => void>();
  private readonly beforeDrawing: (task: () => void) => void;
  private isTelling = false;
  /** The status after a wait. */
  private waitedFrom: ChatStatus | null = null;

  constructor(can: ChatState['can'], beforeDrawing: (task: () => void) => void) {
    this.beforeDrawing = beforeDrawing;
    const nothing = { messages: [], approvals: [], suggestions: [], failure: null, retryAt: null, threadId: null };
    const isStopping = false;
    this.current = { ...nothing, status: 'idle', truncated: false, isStopping, can };
  }

  get state(): ChatState {
    return this.current;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(change: Partial<ChatState>): void {
    this.current = { ...this.current, ...change };
    this.tell();
  }

  change(key: string, change: Partial<ChatMessage>): void {
    this.set({
      messages: this.current.messages.map((message) => (message.key === key ? { ...message, ...change } : message)),
    });
  }

  /** Replaces the message with the same key, or adds it at the end. */
  put({ message, results }: Pick<ReplyProgress, 'message' | 'results'>): void {
    const { messages } = this.current;
    // The current reply is last, unless a message waits to be sent again.
    const index = message ? messages.findLastIndex(({ key }) => key === message.key) : -1;
    const shown = !message || messages[index] === message ? messages : withMessage(messages, index, message);
    // Only the replies since the visitor's last message can have the same calls.
    const from = shown.findLastIndex(({ role }) => role === 'user') + 1;
    const isAlone = shown.length - from === 1 && results.size === 0;
    if (shown === messages && results.size === 0) return;
    this.set({
      messages: isAlone ? shown : [...shown.slice(0, from), ...withEachCallOnce(shown.slice(from), results)],
    });
  }

  /** @param until milliseconds since the epoch; null after the wait */
  wait(until: number | null): void {
    if (until !== null) {
      this.waitedFrom ??= this.current.status;
      this.set({ status: 'waiting', retryAt: until });
    } else if (this.waitedFrom) {
      this.set({ status: this.waitedFrom, retryAt: null });
      this.waitedFrom = null;
    }
  }

  /** A wait that ends after this does not change the status. */
  close(): void {
    this.waitedFrom = null;
    this.set({ status: 'idle', retryAt: null, isStopping: false });
  }

  /** Keeps the received part of a reply that the client no longer follows. */
  breakOff(runId: string, failure: ChatFailure): void {
    const key = keyOfReply(runId);
    const reply = this.current.messages.find((message) => message.key === key) ?? newReply(runId);
    if (reply.status === 'streaming') this.put({ message: brokenOff(reply, failure), results: new Map() });
  }

  private tell(): void {
    if (this.isTelling) return;
    this.isTelling = true;
    this.beforeDrawing(() => {
      this.isTelling = false;
      for (const listener of this.listeners) listener();
    });
  }
}

function withMessage(messages: readonly ChatMessage[], index: number, message: ChatMessage): readonly ChatMessage[] {
  return index === -1 ? [...messages, message] : messages.with(index, message);
}
