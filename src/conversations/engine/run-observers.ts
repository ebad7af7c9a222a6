import { Inject, Injectable } from '@nestjs/common';
import { Logger } from '../../platform/telemetry/index.js';
import type { FinishedRun, RunObserver, RunRecord, SuggestionUsage } from '../ports/index.js';
import { RUN_OBSERVERS } from './run-extensions.js';

@Injectable()
export class RunObservers {
  constructor(
    @Inject(RUN_OBSERVERS) private readonly observers: readonly RunObserver[],
    private readonly logger: Logger,
  ) {}

  recordsOf(finished: FinishedRun): RunRecord[] {
    return this.observers.flatMap((observer) => observer.record(finished));
  }

  recordsOfSuggestions(usage: SuggestionUsage): RunRecord[] {
    return this.observers.flatMap((observer) => observer.recordSuggestions(usage));
  }

  /** Never throws. */
  notifyEnded(finished: FinishedRun): void {
    for (const observer of this.observers) {
      try {
        observer.ended(finished);
      } catch (error) {
        this.logger.error(
          { err: error, runId: finished.run.id, observer: observer.constructor.name },
          'An observer of runs threw',
        );
      }
    }
  }
}
