import type { ChatMessage, ChatState, ChatStatus } from './chat-state.js';

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
    const nothing = { messages: [], approvals: [], suggestions: [], failure: null, retryAt: null };
    this.current = { ...nothing, status: 'idle', truncated: false, can };
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
  put(message: ChatMessage | null): void {
    const { messages } = this.current;
    if (!message || messages.includes(message)) return;
    // The current reply is last, unless a message waits to be sent again.
    const index = messages.findLastIndex(({ key }) => key === message.key);
    this.set({ messages: index === -1 ? [...messages, message] : messages.with(index, message) });
  }

  /** @param until milliseconds since the epoch; null after the wait */
  wait(until: number | null): void {
    if (until !== null) this.waitedFrom ??= this.current.status;
    const status = until === null ? (this.waitedFrom ?? this.current.status) : 'waiting';
    if (until === null) this.waitedFrom = null;
    this.set({ status, retryAt: until });
  }

  /** Keeps the received part of a reply that the client no longer follows. */
  endStreaming(): void {
    const isOpen = ({ status }: ChatMessage): boolean => status === 'streaming';
    if (!this.current.messages.some(isOpen)) return;
    this.set({
      messages: this.current.messages.map((message) =>
        isOpen(message) ? { ...message, status: 'incomplete' } : message,
      ),
    });
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
