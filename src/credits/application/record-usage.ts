import { Injectable } from '@nestjs/common';
import { type FinishedRun, RunObserver, type RunRecord, type SuggestionUsage } from '../../conversations/index.js';
import { entryRow } from '../persistence/credit-entry.repository.js';

/** Adds a credit entry to the statement that ends a run, so that the run and its entry always have the same credits. */
@Injectable()
export class RecordUsage extends RunObserver {
  override record({ run, agent }: FinishedRun): readonly RunRecord[] {
    const { id, agentId, threadId, createdAt, completedAt } = run;
    const { totalTokens: _sum, ...usage } = run.usage;
    const of = { id, createdAt: completedAt ?? createdAt, agentId, threadId };
    const used = { provider: agent.provider, model: agent.model, ...usage };
    return [entryRow(run.organizationId, { ...of, ...used })];
  }

  override recordSuggestions({ organizationId, at, ...usage }: SuggestionUsage): readonly RunRecord[] {
    return [entryRow(organizationId, { ...usage, createdAt: at, threadId: null })];
  }
}
