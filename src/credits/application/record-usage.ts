import { Injectable } from '@nestjs/common';
import { type FinishedRun, RunObserver, type RunRecord, type SuggestionUsage } from '../../conversations/index.js';
import { entryRow } from '../persistence/credit-entry.repository.js';

/** Adds a credit entry to the statement that ends a run, so that the run and its entry always have the same credits. */
@Injectable()
export class RecordUsage extends RunObserver {
  override record({ run, agent }: FinishedRun): readonly RunRecord[] {
    const { inputTokens, outputTokens, credits } = run.usage;
    return [
      entryRow(run.organizationId, {
        id: run.id,
        createdAt: run.completedAt ?? run.createdAt,
        agentId: run.agentId,
        threadId: run.threadId,
        provider: agent.provider,
        model: agent.model,
        inputTokens,
        outputTokens,
        credits,
      }),
    ];
  }

  override recordSuggestions({ organizationId, at, ...usage }: SuggestionUsage): readonly RunRecord[] {
    return [entryRow(organizationId, { ...usage, createdAt: at, threadId: null })];
  }
}
