import { DomainError } from '../errors/index.js';

/** The log of a run in another process cannot be read, or not to its end. The run itself goes on. */
export class RunLogUnavailable extends DomainError {
  constructor(detail: string, cause?: unknown) {
    super(
      'unavailable',
      'The events of this run cannot be read at the moment. The run goes on; its messages can be read from the thread.',
      { code: 'run_events_unavailable', retryAfterSeconds: 5, detail, ...(cause === undefined ? {} : { cause }) },
    );
  }
}
