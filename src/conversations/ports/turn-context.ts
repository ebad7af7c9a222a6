import type { RunnableAgent } from '../../agents/index.js';
import type { ModelAttachment } from '../../models/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { Channel } from '../domain/thread.js';

/** What the caller said about its user: scopes tool calls and retrievals, echoed into the trace. */
export type UserContext = Readonly<Record<string, string | number | boolean>>;

/** The turn as everyone who takes part in it sees it. */
export interface TurnContext {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
  readonly threadId: string;
  readonly runId: string;
  /** Id of the assistant message this turn writes. */
  readonly messageId: string;
  readonly channel: Channel;
  readonly userMessage: {
    readonly id: string;
    readonly text: string;
    readonly attachments?: readonly MessageAttachment[];
  };
  /** The message's files as the model gets them, or the notes that stand for them. */
  readonly attached?: readonly (ModelAttachment | string)[];
  readonly userContext: UserContext | null;
  /** Instructions that came with the request; put after everything else of the system prompt. */
  readonly callerPrompt?: string;
  /** The thread had no message before this turn's. */
  readonly isFirstTurn: boolean;
  /** The caller wants to see the model's thinking. */
  readonly showReasoning: boolean;
  readonly startedAt: Date;
  /** Aborted when the turn has to end: pass it to everything that waits. */
  readonly signal: AbortSignal;
}
