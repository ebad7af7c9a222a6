import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';
import type { RunnableAgent } from '../../agents/index.js';
import type { Stopwatch } from '../../platform/clock/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { AttachedFiles } from '../engine/attached-files.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { SentMessage } from '../domain/new-thread.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../domain/user-context.js';
import type { RunStep } from './run-step.js';

/** The widget that waits for the reply. */
export interface Widget {
  /** Of its SDK, as it says itself: any text. */
  readonly version: string;
}

/** The span of the caller's own trace that becomes the parent of a run's span (W3C Trace Context). */
export const callerSpan = z.object({
  /** 32 hexadecimal digits. */
  traceId: z.string(),
  /** 16 hexadecimal digits. */
  spanId: z.string(),
});
export type CallerSpan = Stored<typeof callerSpan>;

/** A tool call that a run before this one has made for the same message. */
export interface EarlierCall {
  readonly name: string;
  readonly failed: boolean;
}

/** One run as the extensions see it. */
export interface RunContext {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
  readonly threadId: string;
  readonly runId: string;
  /** Id of the assistant message this run writes. */
  readonly messageId: string;
  readonly channel: Channel;
  /** Null for a run that goes on with `decisions` instead. */
  readonly userMessage: {
    readonly id: string;
    readonly text: string;
    readonly attachments?: readonly MessageAttachment[];
  } | null;
  /** The history that the request sent for its new thread, oldest first; empty once hooks have judged it. */
  readonly sentHistory: SentMessage[];
  /** The message's files, until the model has them. */
  readonly attached: AttachedFiles;
  /** What was said to the calls that the thread's last run ended with; null for a run that a message begins. */
  readonly decisions: readonly ApprovalDecision[] | null;
  readonly userContext: UserContext | null;
  /** Stands for the person who chats, within the organization: the same for the same person. Null where nobody is named. */
  readonly userKey: string | null;
  /** Null when the request named none. */
  readonly callerSpan: CallerSpan | null;
  /** Null where the caller is no widget. */
  readonly widget: Widget | null;
  /** Instructions that came with the request; put after everything else of the system prompt. */
  readonly callerPrompt?: string;
  /** The thread had no message before this run's. */
  readonly isFirstRun: boolean;
  /** Nobody can be asked to approve a call: those that need it are declined. */
  readonly nonInteractive: boolean;
  /** The caller wants to see the model's thinking. */
  readonly showReasoning: boolean;
  /** Of the runs that this one goes on with; known by the time that tools are called. */
  readonly earlierCalls: EarlierCall[];
  /** What the run did so far, for its trace. An extension that did something worth telling adds a step. */
  readonly steps: RunStep[];
  /** Runs since the run's start. */
  readonly stopwatch: Stopwatch;
  /** Aborted when the run has to end: pass it to everything that waits. */
  readonly signal: AbortSignal;
}
