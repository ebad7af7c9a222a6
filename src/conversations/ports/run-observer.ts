import type { TableRow } from '../../platform/database/index.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { Message } from '../domain/message.js';
import type { Run } from '../domain/run.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../domain/user-context.js';
import type { CallerSpan } from './run-context.js';
import type { RunStep } from './run-step.js';

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
  /** As in `RunContext`. */
  readonly userKey: string | null;
  /** Null when the request named none, and for a run that another process ended after the crash of its own. */
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
  readonly credits: number;
}

/** One row of a table of the observer's own context: `tableRow(entity, row)` of `platform/database`. */
export type RunRecord = TableRow;

/** Is told how runs ended. */
export abstract class RunObserver {
  /**
   * Told once the run has ended, before its end is stored, and again where storing it failed.
   * @returns the rows to keep of the run, none for nothing. Each is for an entity that the observer's context maps and
   * lists in its `ContextSchema`. They are inserted by the statement that stores the run's end, so they are kept exactly
   * when that is and cost no round trip of their own. A row whose primary key is there already is left as it is: a key
   * that follows from the run's id keeps a run that is stored twice from leaving two. Values are JSON, `Date`,
   * `Uint8Array` or `bigint`; what PostgreSQL cannot store of a text (NUL, half a surrogate pair) is left out. Rows are
   * a part of what ends the run, so they must be of bounded size; one that the database refuses delays the end, which is
   * then stored without any of them.
   */
  record(_run: FinishedRun): readonly RunRecord[] {
    return [];
  }

  /** @returns the rows to store about the usage of suggestions; one transaction inserts those of all observers */
  recordSuggestions(_usage: SuggestionUsage): readonly RunRecord[] {
    return [];
  }

  /**
   * Told at most once of each run, in the process that has ended it: its end is stored, or there is nothing left that it
   * could be stored in, since the thread was deleted meanwhile. Who waits for the run has not been answered yet, so this
   * is for what takes microseconds, such as counting. A process that dies in between tells nobody. What it throws is
   * logged and changes nothing.
   */
  ended(_run: FinishedRun): void {
    // Some observers only keep rows.
  }
}
