import { Injectable } from '@nestjs/common';
import { PromptSource, type RunContext } from '../../conversations/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { recalledSummary } from '../domain/quoted-memories.js';
import { MAX_RECALLED, MAX_RECALLED_SOURCE } from '../limits.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { ownerOf } from './owner-of-run.js';

/** Adds the most useful memories of the run's user to the prompt. */
@Injectable()
export class RecallMemories extends PromptSource {
  readonly scope = 'conversation';

  constructor(
    private readonly memories: MemoryRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  async parts(run: RunContext): Promise<readonly string[]> {
    const owner = ownerOf(run);
    if (owner === null) return [];
    const stopwatch = this.clock.stopwatch();
    try {
      const { memories, total } = await this.memories.mostUseful(owner, MAX_RECALLED, MAX_RECALLED_SOURCE);
      if (memories.length === 0) return [];
      const { text, shown } = recalledSummary(memories, total, this.clock.now());
      const timing = { startedAt: stopwatch.startedAt, latencyMs: stopwatch.elapsedMs() };
      const result = { input: null, output: { shown, total, text }, error: null };
      run.steps.push({ id: newId(), type: 'memory', name: 'memory_recall', ...timing, ...result });
      return [text];
    } catch (error) {
      const message = 'The memories of a user could not be read: the run continues without them';
      this.logger.warn({ err: error, runId: run.runId }, message);
      return [];
    }
  }
}
