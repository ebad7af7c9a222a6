/** The part of the API that a chat uses. Unknown fields and kinds of events are ignored. */

export interface WireAttachment {
  readonly name: string;
  readonly url: string;
  readonly contentType: string;
}

export interface WireComponent {
  readonly id: string;
  /** `confirm`, `select`, `card` or `list`; later services may send others. */
  readonly component: string;
  readonly props: Readonly<Record<string, unknown>>;
  /** The same as Markdown. */
  readonly fallback: string;
}

export interface WireToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly output?: string;
  readonly status: string;
}

export interface WireMessage {
  readonly id: string;
  readonly thread_id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly attachments: readonly WireAttachment[];
  readonly createdAt: string;
  readonly runId: string | null;
  readonly status: 'completed' | 'incomplete' | 'failed';
  readonly blocked?: boolean;
  readonly components: readonly WireComponent[];
  /** Absent if the agent does not show its tool activity. */
  readonly toolCalls?: readonly WireToolCall[];
  /**
   * Number of characters of `content` before a tool call or component, by its id, in the order in which they were shown. Older services
   * do not send it.
   */
  readonly partOffsets?: readonly { readonly id: string; readonly offset: number }[];
  readonly reactions: Readonly<Record<string, unknown>>;
}

export interface WireMessageList {
  /** Oldest first. */
  readonly messages: readonly WireMessage[];
  readonly truncated: boolean;
}

export interface WireInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly expiresAt?: string;
  readonly metadata?: { readonly tool?: string; readonly input?: unknown };
}

export interface WireRun {
  readonly id: string;
  readonly status: 'running' | 'completed' | 'requires_action' | 'failed' | 'cancelled' | 'timed_out';
  readonly error: { readonly code: string; readonly message: string } | null;
}

export type WireOutcome =
  | { readonly type: 'success' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly WireInterrupt[] }
  | { readonly type: 'cancelled' };

/** The events of AG-UI 1.0 that the widget acts on. */
export type WireEvent =
  | { readonly type: 'RUN_STARTED'; readonly threadId: string; readonly runId: string }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId?: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | { readonly type: 'TOOL_CALL_RESULT'; readonly toolCallId: string; readonly content: string }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown }
  | {
      readonly type: 'RUN_FINISHED';
      readonly outcome?: WireOutcome;
      readonly result?: { readonly run: WireRun; readonly message: WireMessage | null };
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code?: string };

/** Body of every error response. */
export interface WireError {
  readonly statusCode?: number;
  readonly code?: string;
  readonly error?: string;
  readonly message?: string;
}
