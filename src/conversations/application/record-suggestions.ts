import { Injectable } from '@nestjs/common';
import type { RunnableAgent } from '../../agents/index.js';
import { addKnownUsage, addUsage, creditsFor, findModel, type ModelUsage, NO_USAGE } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { RunObservers } from '../engine/run-observers.js';
import { insertSuggestionUsage } from '../persistence/suggestion-usage.sql.js';

/** Stores the usage of suggestions, for credits and analytics. */
@Injectable()
export class RecordSuggestions {
  constructor(
    private readonly observers: RunObservers,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Logs a failure instead of throwing it, so that the caller gets the suggestions.
   * @param calls the usage that the provider reported of each call of the model
   */
  async execute({ organizationId, id: agentId, provider }: RunnableAgent, calls: readonly ModelUsage[]): Promise<void> {
    try {
      const { inputTokens, outputTokens } = calls.reduce(addUsage, NO_USAGE);
      const model = findModel(provider.type, provider.model);
      const credits = provider.useOwnApiKey || !model ? 0 : creditsFor(model, calls.reduce(addKnownUsage, NO_USAGE));
      const records = this.observers.recordsOfSuggestions({
        ...{ id: newId(), organizationId, agentId, provider: provider.type, model: provider.model },
        ...{ at: this.clock.now(), inputTokens, outputTokens, credits },
      });
      await insertSuggestionUsage(this.database, records);
    } catch (error) {
      this.logger.error({ err: error, agentId }, 'The usage of suggestions could not be stored');
    }
  }
}
