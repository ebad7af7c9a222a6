import type { ConversationSummary, ReactionKind } from './options.js';
import type { WireAttachment, WireComponent } from './wire.js';

/**
 * - `idle`: not started; `connecting`: requests credentials or loads the conversation.
 * - `ready`: the visitor may send a message; `responding`: a reply streams.
 * - `reconnecting`: the client reconnects to the stream of a reply.
 * - `awaiting_approval`: the visitor has to approve or decline tool calls; a message declines them.
 * - `waiting`: the service asked to wait (`retryAt`); the request is sent after that.
 * - `failed`: ended until `newConversation` or a reload of the page.
 */
export type ChatStatus =
  'idle' | 'connecting' | 'ready' | 'responding' | 'reconnecting' | 'awaiting_approval' | 'waiting' | 'failed';

/** Whether the chat accepts a message in this state. */
export function takesMessages({ status }: Pick<ChatState, 'status'>): boolean {
  return status === 'ready' || status === 'awaiting_approval';
}

export interface ToolActivity {
  readonly id: string;
  readonly name: string;
  /** The received part of the JSON text. */
  readonly input: string;
  readonly output: string | null;
  /** `approved`: the visitor has approved the call, and the service does not show what came of it. */
  readonly status: 'running' | 'completed' | 'failed' | 'awaiting_approval' | 'approved' | 'denied';
}

/** The parts of a message stand in the order in which they came. */
export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly tool: ToolActivity }
  | { readonly kind: 'component'; readonly component: WireComponent };

export interface ChatMessage {
  /** Never changes, unlike `id`, the service's id of the message, which may be set later. */
  readonly key: string;
  readonly id: string | null;
  readonly role: 'user' | 'assistant';
  /** The text of all parts: Markdown for an assistant, plain text for a user. */
  readonly text: string;
  readonly parts: readonly MessagePart[];
  readonly attachments: readonly WireAttachment[];
  /**
   * `unsent`: the message did not reach the service. `stopped`: the visitor stopped the reply. `incomplete` and `failed`: a reply that
   * broke off, after and before its first text. `retry` sends an `unsent` message, or the message before a reply that broke off.
   */
  readonly status: 'sending' | 'unsent' | 'streaming' | 'completed' | 'stopped' | 'incomplete' | 'failed';
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly reaction: ReactionKind | null;
  /** Why a reply broke off, if this page has seen it. */
  readonly failure: ChatFailure | null;
}

export interface Approval {
  readonly interruptId: string;
  readonly toolCallId: string | null;
  readonly tool: string;
  readonly input: unknown;
}

/** Why the chat has ended, or why the last action failed. */
export interface ChatFailure {
  /** The service's `code` or `error`; else `network`, `credentials` or `internal`. The visitor reads a text that is chosen by it. */
  readonly code: string;
  /** For the page's developer, in English; the visitor never reads it. */
  readonly message: string;
  /** Only a new conversation helps. */
  readonly terminal: boolean;
}

export interface UploadedFile extends WireAttachment {
  readonly id: string;
  readonly size: number;
}

export interface ChatState {
  readonly status: ChatStatus;
  /** Oldest first. */
  readonly messages: readonly ChatMessage[];
  /** The service has older messages that are not loaded. */
  readonly truncated: boolean;
  readonly approvals: readonly Approval[];
  readonly suggestions: readonly string[];
  readonly failure: ChatFailure | null;
  /** While `waiting`: milliseconds since the epoch. */
  readonly retryAt: number | null;
  /** The visitor has asked to stop the reply, which has not ended yet. */
  readonly isStopping: boolean;
  /** The thread of the conversation; null before it is known. */
  readonly threadId: string | null;
  readonly can: {
    readonly attach: boolean;
    readonly suggest: boolean;
    readonly react: boolean;
    /** The page's server lists the visitor's conversations. */
    readonly listConversations: boolean;
  };
}

/** What a page may want to know, beside the state. */
export type ChatEvent =
  | { readonly type: 'messageSent'; readonly message: ChatMessage }
  /** A reply that ended, whatever its status. Not for replies of a restored conversation. */
  | { readonly type: 'replyFinished'; readonly message: ChatMessage }
  /** Every failure, also those that the visitor can mend. */
  | { readonly type: 'chatError'; readonly failure: ChatFailure }
  /** A terminal failure: only a new conversation helps. */
  | { readonly type: 'sessionFailed'; readonly failure: ChatFailure };

export interface UploadOptions {
  readonly signal?: AbortSignal;
  /** Called with the sent part, from 0 to 1. */
  readonly onProgress?: (sent: number) => void;
}

/** The visitor's decision on each approval. */
export type Decisions = ReadonlyMap<string, { readonly approved: boolean; readonly reason?: string }>;

/** The interface of a chat for its view. */
export interface Chat {
  readonly state: ChatState;
  /** Calls the listener after changes of `state`, at most once a frame. @returns unsubscribes it */
  subscribe(listener: () => void): () => void;
  /** Calls the listener for each event. @returns removes it */
  on(listener: (event: ChatEvent) => void): () => void;
  /**
   * Gets credentials or a stored conversation, shows its messages and follows an active run. May be called again after a start that
   * failed without a terminal error.
   */
  start(): Promise<void>;
  /** Resolves when the reply has ended or failed; `state` has the problem. */
  send(text: string, attachments?: readonly WireAttachment[]): Promise<void>;
  /** Sends an `unsent` message again, or the message before a reply that broke off. */
  retry(key: string): Promise<void>;
  /** Ends the reply under way; its text so far stays. */
  stop(): Promise<void>;
  /** Answers all approvals. */
  answer(decisions: Decisions): Promise<void>;
  /** @returns whether the rating was stored */
  react(messageKey: string, reaction: ReactionKind | null, comment?: string): Promise<boolean>;
  /** Only in proxy and direct mode. @throws ChatError */
  upload(file: File, options?: UploadOptions): Promise<UploadedFile>;
  /** The visitor's conversations, newest first. @throws ChatError */
  listConversations(): Promise<readonly ConversationSummary[]>;
  /** Leaves this conversation for another of the visitor. */
  openConversation(threadId: string): Promise<void>;
  newConversation(): Promise<void>;
  /** Stops all requests of the browser. The service continues an active run. */
  close(): void;
}
