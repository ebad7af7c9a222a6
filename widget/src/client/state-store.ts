import type { ChatMessage, ChatState, ChatStatus } from './chat-state.js';

/** The state of a chat, and who wants to know of its changes. */
export class StateStore {
  private current: ChatState;
  private readonly listeners = new Set<() => void>();
  private readonly beforeDrawing: (task: () => void) => void;
  private isTelling = false;
  /** What the status is again when a wait is over. */
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

  /** Puts a message in the place of the one with its key, or at the end. */
  put(message: ChatMessage | null): void {
    const { messages } = this.current;
    if (!message || messages.includes(message)) return;
    // The reply under way is last, except where a message waits to be sent again.
    const index = messages.findLastIndex(({ key }) => key === message.key);
    this.set({ messages: index === -1 ? [...messages, message] : messages.with(index, message) });
  }

  /** @param until milliseconds since the epoch; null when the wait is over */
  wait(until: number | null): void {
    if (until !== null) this.waitedFrom ??= this.current.status;
    const status = until === null ? (this.waitedFrom ?? this.current.status) : 'waiting';
    if (until === null) this.waitedFrom = null;
    this.set({ status, retryAt: until });
  }

  /** A reply that is not followed any more stays as far as it came. */
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
