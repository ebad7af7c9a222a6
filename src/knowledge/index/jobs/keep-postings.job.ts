import { z } from 'zod';
import { Database } from '../../../platform/database/index.js';
import { BackgroundPace } from '../../../platform/http/index.js';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { detectLanguage, formsOf } from '../../../platform/text/index.js';
import { analyzed } from '../application/indexing/prepared-document.js';
import { TermAnalyzer } from '../domain/chunk-terms.js';
import { COMPACTED_AT_ONCE, INSERTED_AT_ONCE, KEEP_POSTINGS_EVERY_MINUTES } from '../limits.js';
import { indexedScopeOf } from '../persistence/indexed-scope.js';
import { placeUnplaced, READ_UNPLACED, type UnplacedChunk } from '../persistence/placed-chunks.sql.js';
import { compactTerms, endCompaction, lockPartition, readSparseBlock } from '../persistence/postings.sql.js';

const payload = z.object({});

export const keepPostings = defineJob({
  name: 'knowledge.keep-postings',
  payload,
  schedule: { everyMinutes: KEEP_POSTINGS_EVERY_MINUTES, payload: {} },
});

class ChunksChanged extends Error {}

/** Writes the postings of chunks that a former version of the service has stored, and removes those of chunks that are gone. May be interrupted at any step. */
@Processor(keepPostings.name)
export class KeepPostings extends WorkerHost {
  constructor(
    private readonly database: Database,
    private readonly pace: BackgroundPace,
  ) {
    super();
  }

  process({ signal }: ActiveJob<z.output<typeof payload>>): Promise<void> {
    return this.execute(signal);
  }

  async execute(signal: AbortSignal): Promise<void> {
    while (await this.placeSome()) signal.throwIfAborted();
    for (let block = await readSparseBlock(this.database); block; block = await readSparseBlock(this.database)) {
      for (let after: string | null = ''; after !== null;) {
        signal.throwIfAborted();
        const from: string = after;
        const sparse = block;
        after = await this.pace.run(() =>
          this.database.transaction((transaction) => compactTerms(transaction, sparse, from, COMPACTED_AT_ONCE)),
        );
      }
      await endCompaction(this.database, block);
    }
  }

  /** @returns whether there may be more; false also where another writer has changed them meanwhile, until the next time */
  private async placeSome(): Promise<boolean> {
    const read = await READ_UNPLACED.run<UnplacedChunk>(this.database, { limit: INSERTED_AT_ONCE });
    const [first] = read;
    if (!first) return false;
    const chunks = read.filter(({ documentId }) => documentId === first.documentId);
    try {
      await this.place(first, chunks);
      return true;
    } catch (error) {
      if (error instanceof ChunksChanged) return false;
      throw error;
    }
  }

  private async place(
    { organizationId, agentId, scope, title }: UnplacedChunk,
    unplaced: readonly UnplacedChunk[],
  ): Promise<void> {
    const language = detectLanguage(formsOf(...unplaced.map(({ text }) => text)));
    const chunks = await analyzed(new TermAnalyzer(language), title, unplaced);
    const reservation = { scope: indexedScopeOf(scope), chunks: chunks.length, language };
    await this.pace.run(() =>
      this.database.transaction(async (transaction) => {
        const partition = await lockPartition(transaction, { organizationId, agentId }, reservation);
        if ((await placeUnplaced(transaction, organizationId, partition, chunks)) < chunks.length)
          throw new ChunksChanged();
      }),
    );
  }
}
