import type { ReactionKind } from './options.js';
import type { WireAttachment, WireComponent } from './wire.js';

/**
 * - `idle`: not started; `connecting`: asks for credentials or reads the conversation.
 * - `ready`: a message may be sent; `responding`: a reply is on its way.
 * - `reconnecting`: the stream of a reply broke and is being joined again.
 * - `awaiting_approval`: the visitor has to approve or decline tool calls; a message instead declines them.
 * - `waiting`: the service asked to wait (`retryAt`); what was sent goes out afterwards.
 * - `failed`: over until `newConversation` (or a reload of the page).
 */
export type ChatStatus =
  'idle' | 'connecting' | 'ready' | 'responding' | 'reconnecting' | 'awaiting_approval' | 'waiting' | 'failed';

/** Whether a message can be said now; what is said at any other time is not taken. */
export function takesMessages({ status }: Pick<ChatState, 'status'>): boolean {
  return status === 'ready' || status === 'awaiting_approval';
}

export interface ToolActivity {
  readonly id: string;
  readonly name: string;
  /** JSON as text; what has arrived of it. */
  readonly input: string;
  readonly output: string | null;
  readonly status: 'running' | 'completed' | 'failed' | 'awaiting_approval' | 'denied';
}

export interface ChatMessage {
  /** Stable from the first moment on; the service's id of the message once it is known (`id`) may come later. */
  readonly key: string;
  readonly id: string | null;
  readonly role: 'user' | 'assistant';
  /** Markdown for an assistant, plain text for a user. */
  readonly text: string;
  readonly attachments: readonly WireAttachment[];
  /** `unsent`: it did not reach the service, and `retry` sends it again. */
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

/** Why the chat cannot go on, or why the last action did not succeed. */
export interface ChatFailure {
  /** The service's `code` or `error`; `network`, `credentials` or `internal` where it said nothing. */
  readonly code: string;
  readonly message: string;
  /** Nothing but a new conversation helps. */
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
  /** Older messages exist that are not shown. */
  readonly truncated: boolean;
  readonly approvals: readonly Approval[];
  readonly suggestions: readonly string[];
  readonly failure: ChatFailure | null;
  /** While `waiting`: milliseconds since the epoch. */
  readonly retryAt: number | null;
  readonly can: { readonly attach: boolean; readonly suggest: boolean; readonly react: boolean };
}

/** How the visitor decided on each approval. */
export type Decisions = ReadonlyMap<string, { readonly approved: boolean; readonly reason?: string }>;

/** What the view needs of a chat. */
export interface Chat {
  readonly state: ChatState;
  /** Called after every change of `state`, at most once a frame where there is one. @returns ends it */
  subscribe(listener: () => void): () => void;
  /** Terminal errors of a session, once each. @returns ends it */
  onSessionFailed(listener: (failure: ChatFailure) => void): () => void;
  /**
   * Gets credentials or a remembered conversation, shows its messages and goes on with a reply under way. Again after
   * a start that failed without being terminal.
   */
  start(): Promise<void>;
  /** Resolves when the reply has ended or failed; what went wrong is in `state`. */
  send(text: string, attachments?: readonly WireAttachment[]): Promise<void>;
  /** Sends an `unsent` message again. */
  retry(key: string): Promise<void>;
  /** Answers all approvals. */
  answer(decisions: Decisions): Promise<void>;
  react(messageKey: string, reaction: ReactionKind | null): Promise<void>;
  /** Proxy and direct mode alone. @throws Error with a message for the visitor */
  upload(file: File): Promise<UploadedFile>;
  newConversation(): Promise<void>;
  /** Stops what is under way in the browser; a reply goes on in the service. */
  close(): void;
}
