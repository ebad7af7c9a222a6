import type { TableRow } from '../../platform/database/index.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { FailureCause } from '../domain/failure-cause.js';
import type { Message } from '../domain/message.js';
import type { Run } from '../domain/run.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../domain/user-context.js';
import type { CallerSpan } from './run-context.js';
import type { RunStep } from './run-step.js';

/** A run that has ended, with any status. */
export interface FinishedRun {
  readonly run: Run;
  /** Null for a run that has not failed. */
  readonly failureCause: FailureCause | null;
  readonly agent: { readonly provider: string; readonly model: string; readonly useOwnApiKey: boolean };
  readonly channel: Channel;
  /** Null for a run that began with `decisions`. */
  readonly userMessage: { readonly id: string; readonly text: string } | null;
  readonly decisions: readonly ApprovalDecision[] | null;
  /** Null when the run ended before it had text or calls. */
  readonly message: Message | null;
  readonly userContext: UserContext | null;
  readonly userKey: string | null;
  /** Null when the request named none, and for a run that another process ended after its own had died. */
  readonly callerSpan: CallerSpan | null;
  readonly steps: readonly RunStep[];
  readonly latencyMs: number;
  /** From the start of the run to the first text; null when there was none. */
  readonly timeToFirstTokenMs: number | null;
}

/** The usage of one request for suggestions: calls of the agent's model outside of a run. */
export interface SuggestionUsage {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly provider: string;
  readonly model: string;
  readonly at: Date;
  /** Null when the provider did not report it. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedInputTokens: number | null;
  readonly credits: number;
}

/**
 * One row of a table of the observer's own context: `tableRow(entity, row)` of `platform/database`, or `fanOutRow` for one that is
 * stored for each of the rows of another table that want it.
 */
export type RunRecord = TableRow;

/** Stores rows about ended runs, and counts them. */
export abstract class RunObserver {
  /**
   * Called when the run has ended, before its end is stored, and again before each further attempt to store it.
   * @returns the rows to store. Each belongs to an entity that the observer's context lists in its `ContextSchema`. The
   * statement that stores the run's end inserts them, so they are stored exactly when the end is, without a further
   * round trip. A row whose primary key exists stays as it is: derive the key from the run's id, so that a repeated
   * attempt adds no second row. Values are JSON, `Date`, `Uint8Array` or `bigint`; characters that PostgreSQL cannot
   * store (NUL, half a surrogate pair) are removed. Rows must be of bounded size. A row that the database refuses
   * delays the end, which is then stored without all rows.
   */
  record(_run: FinishedRun): readonly RunRecord[] {
    return [];
  }

  /** @returns the rows to store about the usage of suggestions; one transaction inserts those of all observers */
  recordSuggestions(_usage: SuggestionUsage): readonly RunRecord[] {
    return [];
  }

  /**
   * Called at most once for each run, in the process that ended it, after the end was stored or when the thread was
   * deleted. The caller of the run still waits for its response, so this may take only microseconds: it is for
   * counting. Not called when the process dies in between. The engine logs an error that it throws.
   */
  ended(_run: FinishedRun): void {
    // Most observers only store rows.
  }
}
