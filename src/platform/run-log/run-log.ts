import { DomainError } from '../errors/index.js';

/** One event of a run: its number in the log, from 1, and what a reader is sent. */
export interface RunLogEntry {
  readonly number: number;
  /** Lets a reader leave out kinds of events without parsing them. */
  readonly tag: string;
  readonly data: string;
}

/** The one writer of a run's log. Never waits, neither for a reader nor for a network. */
export interface RunLogWriter {
  /** Ignored once the log was sealed: for everyone else the run is over by then. */
  append(tag: string, data: string): void;
  /** No entry follows; readers end once they have read the last one. */
  end(): void;
}

/**
 * The numbered events of runs. Every reader, the first one too, is a cursor over the log, so a slow
 * or absent reader never holds up the run.
 */
export abstract class RunLog {
  abstract open(runId: string): RunLogWriter;

  /**
   * Entries after `after`, in batches of what has come in since the last one, until the log ends.
   * Aborting the signal ends the iteration, and has to happen where the result is not iterated to its end.
   * @returns null when the log is unknown or no longer kept
   * @throws RunLogUnavailable, also out of the iteration, when the log of a run in another process
   * cannot be read (any more); never for a run of this process
   */
  abstract read(
    runId: string,
    after: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly RunLogEntry[]> | null>;

  /**
   * Ends the log of a run whose writer died, with this as its last entry, so that readers in other
   * processes end too. Does nothing where the log is unknown or has ended. Never rejects: readers of a
   * log that could not be sealed end when it expires.
   */
  abstract seal(runId: string, tag: string, data: string): Promise<void>;
}

/** The log of a run in another process cannot be read, or not to its end. The run itself goes on. */
export class RunLogUnavailable extends DomainError {
  constructor(detail: string, cause?: unknown) {
    super(
      'unavailable',
      'The events of this run cannot be read at the moment. The run goes on; its messages can be read from the thread.',
      { code: 'run_events_unavailable', retryAfterSeconds: 5, detail, cause },
    );
  }
}
