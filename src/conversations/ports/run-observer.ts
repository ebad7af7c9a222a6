import type { Statement } from '../../platform/database/index.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { Message } from '../domain/message.js';
import type { Run } from '../domain/run.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from './run-context.js';

export type StepType = 'model' | 'tool' | 'retrieval' | 'hook' | 'memory';

/** One thing the run did, as the trace shows it. */
export interface RunStep {
  readonly id: string;
  readonly type: StepType;
  readonly name: string;
  readonly startedAt: Date;
  readonly latencyMs: number;
  readonly input: unknown;
  readonly output: unknown;
  /** Public text; null when the step succeeded. */
  readonly error: string | null;
  readonly usage?: { readonly inputTokens: number | null; readonly outputTokens: number | null };
}

/** A run that has ended, however it did. */
export interface FinishedRun {
  readonly run: Run;
  readonly agent: { readonly provider: string; readonly model: string; readonly useOwnApiKey: boolean };
  readonly channel: Channel;
  /** Null for a run that went on with `decisions` instead. */
  readonly userMessage: { readonly id: string; readonly text: string } | null;
  readonly decisions: readonly ApprovalDecision[] | null;
  /** Null when the run ended before there was anything to keep. */
  readonly message: Message | null;
  readonly userContext: UserContext | null;
  readonly steps: readonly RunStep[];
  readonly latencyMs: number;
  /** From the start of the run to the first text; null when there was none. */
  readonly timeToFirstTokenMs: number | null;
}

/** Is told what happened. */
export abstract class RunObserver {
  /**
   * @returns what to keep of the run, or null for nothing: one `insert` or `update` that takes its rows
   * `from ended_run` (columns `id`, `thread_id`; one row when the run was this process's to end, else none).
   * It becomes a part of the statement that stores the run's end, so it is kept exactly when that is, and
   * costs no round trip of its own. Its text must not vary from run to run: the database prepares it once.
   * Parameters need casts (`$1::uuid`), as they do in any `insert ... select`.
   */
  abstract record(run: FinishedRun): Statement | null;
}
