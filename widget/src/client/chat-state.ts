import type { ReactionKind } from './options.js';
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
  readonly status: 'running' | 'completed' | 'failed' | 'awaiting_approval' | 'denied';
}

export interface ChatMessage {
  /** Never changes, unlike `id`, the service's id of the message, which may be set later. */
  readonly key: string;
  readonly id: string | null;
  readonly role: 'user' | 'assistant';
  /** Markdown for an assistant, plain text for a user. */
  readonly text: string;
  readonly attachments: readonly WireAttachment[];
  /** `unsent`: the message did not reach the service; `retry` sends it again. */
  readonly status: 'sending' | 'unsent' | 'streaming' | 'completed' | 'incomplete' | 'failed';
  readonly components: readonly WireComponent[];
  readonly tools: readonly ToolActivity[];
  readonly reaction: ReactionKind | null;
}

export interface Approval {
  readonly interruptId: string;
  readonly toolCallId: string | null;
  readonly tool: string;
  readonly input: unknown;
}

/** Why the chat has ended, or why the last action failed. */
export interface ChatFailure {
  /** The service's `code` or `error`; else `network`, `credentials` or `internal`. */
  readonly code: string;
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
  readonly can: { readonly attach: boolean; readonly suggest: boolean; readonly react: boolean };
}

/** The visitor's decision on each approval. */
export type Decisions = ReadonlyMap<string, { readonly approved: boolean; readonly reason?: string }>;

/** The interface of a chat for its view. */
export interface Chat {
  readonly state: ChatState;
  /** Calls the listener after changes of `state`, at most once a frame. @returns unsubscribes it */
  subscribe(listener: () => void): () => void;
  /** Calls the listener once for each terminal error. @returns unsubscribes it */
  onSessionFailed(listener: (failure: ChatFailure) => void): () => void;
  /**
   * Gets credentials or a stored conversation, shows its messages and follows an active run. May be called again after a start that
   * failed without a terminal error.
   */
  start(): Promise<void>;
  /** Resolves when the reply has ended or failed; `state` has the problem. */
  send(text: string, attachments?: readonly WireAttachment[]): Promise<void>;
  /** Sends an `unsent` message again. */
  retry(key: string): Promise<void>;
  /** Answers all approvals. */
  answer(decisions: Decisions): Promise<void>;
  react(messageKey: string, reaction: ReactionKind | null): Promise<void>;
  /** Only in proxy and direct mode. @throws Error with a message for the visitor */
  upload(file: File): Promise<UploadedFile>;
  newConversation(): Promise<void>;
  /** Stops all requests of the browser. The service continues an active run. */
  close(): void;
}
