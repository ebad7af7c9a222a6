import { DomainError } from '../errors/index.js';

/** One event of a run: its number in the log, from 1, and the text that readers receive. */
export interface RunLogEntry {
  readonly number: number;
  /** The kind of the event, by which a reader filters without parsing. */
  readonly tag: string;
  /** JSON, which contains no control characters. */
  readonly data: string;
}

/** The only writer of a run's log. Waits neither for readers nor for the network. */
export interface RunLogWriter {
  /** Does nothing once the log is sealed, because all readers consider the run ended. */
  append(tag: string, data: string): void;
  /** Reaches only those who read the log in this process now: the log has neither the entry nor a number for it. */
  note(tag: string, data: string): void;
  /** Readers end once they have read the last entry. */
  end(): void;
}

/** The numbered events of runs. Every reader is a cursor over the log, so a slow or absent reader does not delay the run. */
export abstract class RunLog {
  /** Of the ended logs that this process keeps in memory. */
  abstract readonly endedBytes: number;

  abstract open(runId: string): RunLogWriter;

  /**
   * Yields the entries after `after` until the log ends; each batch has those written since the one before.
   * A position at or behind the end of an ended log gets its last entry, with the next number: no reader is left without it.
   * Aborting the signal ends the iteration. A caller that does not iterate to the end must abort it.
   * @returns null if the log does not exist or no longer exists
   * @throws RunLogUnavailable, also from the iteration, if the log of a run in another process cannot be read;
   * never for a run of this process
   */
  abstract read(
    runId: string,
    after: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly RunLogEntry[]> | null>;

  /**
   * Ends the log of a run whose writer died, with this as its last entry, so that readers in other processes end too.
   * Does nothing if the log does not exist or has ended. Never rejects: readers of a log that could not be sealed end
   * when it expires.
   */
  abstract seal(runId: string, tag: string, data: string): Promise<void>;
}

/** The log of a run in another process cannot be read to its end. The run itself continues. */
export class RunLogUnavailable extends DomainError {
  constructor(detail: string, cause?: unknown) {
    super(
      'unavailable',
      'The events of this run cannot be read at the moment. The run goes on; its messages can be read from the thread.',
      { code: 'run_events_unavailable', retryAfterSeconds: 5, detail, cause },
    );
  }
}
