import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';
import type { RunnableAgent } from '../../agents/index.js';
import type { ToolChoice } from '../../models/index.js';
import type { Stopwatch } from '../../platform/clock/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { AttachedFiles } from '../engine/attached-files.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { SentMessage } from '../domain/new-thread.js';
import type { RunConsumption, RunOptions } from '../domain/run-options.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../domain/user-context.js';
import type { RunStep } from './run-step.js';

export interface Widget {
  /** The version of its SDK, as the caller sends it: any text. */
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

/** A tool call that an earlier run made for the same message. */
export interface EarlierCall {
  readonly name: string;
  readonly failed: boolean;
}

/** One run, as extensions see it. */
export interface RunContext {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
  readonly threadId: string;
  readonly runId: string;
  /** The id of the message that the run writes. */
  readonly messageId: string;
  readonly channel: Channel;
  /** Null for a run that begins with `decisions`, or continues a sent history. */
  readonly userMessage: {
    readonly id: string;
    readonly text: string;
    readonly attachments?: readonly MessageAttachment[];
  } | null;
  /**
   * The history that the request sent for its new thread, oldest first. The engine empties it once hooks have judged
   * it.
   */
  readonly sentHistory: SentMessage[];
  /** The message's files, until the first request to the model is built. */
  readonly attached: AttachedFiles;
  /**
   * What the last run waited for; empty for a run that continues a sent history, null for one that begins with a
   * message.
   */
  readonly decisions: readonly ApprovalDecision[] | null;
  readonly userContext: UserContext | null;
  /**
   * The key of the user (`UserKeys`), the same for the same person of an organization; null when the request names no
   * user.
   */
  readonly userKey: string | null;
  readonly callerSpan: CallerSpan | null;
  readonly widget: Widget | null;
  /** The caller's instructions, the last part of the system prompt. */
  readonly callerPrompt?: string;
  /** The thread had no message before this run's. */
  readonly isFirstRun: boolean;
  /** The caller cannot be asked for approval, so calls that need it are declined. */
  readonly nonInteractive: boolean;
  readonly options: RunOptions;
  /** Whether the model must call a tool in its first answer; absent if it decides. */
  readonly toolChoice?: ToolChoice;
  /** What the runs that this run resumes have used up. */
  readonly usedBefore: RunConsumption;
  /** The caller asks for the model's reasoning. */
  readonly showReasoning: boolean;
  /** The calls of the runs that this run resumes. The engine fills it before it calls tools. */
  readonly earlierCalls: EarlierCall[];
  /** The steps of the run's trace so far. An extension may add steps. */
  readonly steps: RunStep[];
  readonly stopwatch: Stopwatch;
  /** Aborts when the run has to end. Pass it to everything that waits. */
  readonly signal: AbortSignal;
}
