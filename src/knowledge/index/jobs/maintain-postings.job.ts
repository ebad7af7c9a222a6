import { Database } from '../../../platform/database/index.js';
import { BackgroundPace } from '../../../platform/http/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { detectLanguage, formsOf } from '../../../platform/text/index.js';
import { analyzeChunks } from '../application/indexing/prepared-document.js';
import { TermAnalyzer } from '../domain/chunk-terms.js';
import { COMPACTED_AT_ONCE, INSERTED_AT_ONCE, MAINTAIN_POSTINGS_EVERY_MINUTES } from '../limits.js';
import {
  compactTerms,
  endCompaction,
  findSparseBlock,
  reserveNumbers,
  type SparseBlock,
  termParameters,
} from '../persistence/postings.sql.js';
import { PLACE_CHUNKS, READ_UNPLACED, type UnplacedChunk } from '../persistence/unplaced-chunks.sql.js';

export const maintainPostings = definePeriodicJob(
  // Queues store schedules under this name.
  'knowledge.keep-postings',
  MAINTAIN_POSTINGS_EVERY_MINUTES,
);

class ChunksChanged extends Error {}

/**
 * Writes the postings of chunks that the former version of the service has stored, and removes the postings of deleted chunks. Not a
 * migration, because the former version may still run beside this one. May be interrupted at any step.
 */
@Processor(maintainPostings.name)
export class MaintainPostings extends WorkerHost {
  constructor(
    private readonly database: Database,
    private readonly pace: BackgroundPace,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    while (await this.placeSome()) signal.throwIfAborted();
    for (let block = await findSparseBlock(this.database); block; block = await findSparseBlock(this.database))
      await this.compact(block, signal);
  }

  private async compact(block: SparseBlock, signal: AbortSignal): Promise<void> {
    for (let last: string | null = ''; last !== null;) {
      signal.throwIfAborted();
      const after: string = last;
      last = await this.pace.run(() =>
        this.database.transaction((transaction) => compactTerms(transaction, block, after, COMPACTED_AT_ONCE)),
      );
    }
    await endCompaction(this.database, block);
  }

  /** @returns whether more chunks may follow; false also if another writer has changed the chunks, which leaves them to the job's next run */
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
    const chunks = await analyzeChunks(new TermAnalyzer(language), title, unplaced);
    await this.pace.run(() =>
      this.database.transaction(async (transaction) => {
        const added = { scope, chunks: chunks.length, language };
        const partition = await reserveNumbers(transaction, { organizationId, agentId }, added);
        const numbered = chunks.map((chunk, index) => ({ ...chunk, number: partition.firstNumber + index }));
        const rows = numbered.map(({ id, number, terms }) => ({ id, number, length: terms.length }));
        const terms = termParameters(partition.id, numbered, true);
        const placed = await PLACE_CHUNKS.run(transaction, { organizationId, rows, ...terms });
        if (placed.length < chunks.length) throw new ChunksChanged();
      }),
    );
  }
}
