import type { ChatFailure, ChatMessage } from './client/chat-state.js';

/** The events of an `<agent-chat>`. They bubble and leave shadow trees. */
export interface AgentChatEventMap {
  /** The chat has started and takes messages. */
  ready: CustomEvent<null>;
  /** The panel has been opened, by the visitor or the page. Not for a panel that the element draws open at first. */
  opened: CustomEvent<null>;
  closed: CustomEvent<null>;
  messageSent: CustomEvent<{ readonly text: string }>;
  /** A reply has ended, whatever its status. */
  replyFinished: CustomEvent<{
    /** Markdown */
    readonly text: string;
    readonly status: ChatMessage['status'];
    /** The service's id of the reply; null if it has none. */
    readonly messageId: string | null;
  }>;
  /** Every failure, also those that the visitor can mend. */
  chatError: CustomEvent<ChatFailure>;
  /** Only a new conversation helps. */
  sessionFailed: CustomEvent<ChatFailure>;
}

type Listener<Type extends keyof AgentChatEventMap> = (event: AgentChatEventMap[Type]) => void;
type AnyListener = EventListenerOrEventListenerObject;

/** An element with the types of its events. */
export class AgentChatEvents extends HTMLElement {
  override addEventListener<Type extends keyof AgentChatEventMap>(
    type: Type,
    listener: Listener<Type>,
    options?: boolean | AddEventListenerOptions,
  ): void;
  override addEventListener(type: string, listener: AnyListener, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(type: string, listener: AnyListener, options?: boolean | AddEventListenerOptions): void {
    super.addEventListener(type, listener, options);
  }

  override removeEventListener<Type extends keyof AgentChatEventMap>(
    type: Type,
    listener: Listener<Type>,
    options?: boolean | EventListenerOptions,
  ): void;
  override removeEventListener(type: string, listener: AnyListener, options?: boolean | EventListenerOptions): void;
  override removeEventListener(type: string, listener: AnyListener, options?: boolean | EventListenerOptions): void {
    super.removeEventListener(type, listener, options);
  }

  protected tell<Type extends keyof AgentChatEventMap>(type: Type, detail: AgentChatEventMap[Type]['detail']): void {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
  }
}
