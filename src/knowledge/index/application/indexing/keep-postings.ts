import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../../../../platform/clock/index.js';
import { Database } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { detectLanguage, formsOf } from '../../../../platform/text/index.js';
import { type ChunkTerms, TermAnalyzer } from '../../domain/chunk-terms.js';
import { COMPACTED_AT_ONCE, COMPUTE_SLICE_MS, INSERTED_AT_ONCE } from '../../limits.js';
import { indexedScopeOf } from '../../persistence/indexed-scope.js';
import { placeUnplaced, readUnplacedChunks, type UnplacedChunk } from '../../persistence/placed-chunks.sql.js';
import { compactTerms, endCompaction, lockPartition, readSparseBlock } from '../../persistence/postings.sql.js';

class ChunksChanged extends Error {}

/** Writes the postings of chunks that a former version of the service has stored, and removes those of chunks that are gone. May be interrupted at any step. */
@Injectable()
export class KeepPostings {
  constructor(
    private readonly database: Database,
    private readonly pace: BackgroundPace,
  ) {}

  async execute(signal: AbortSignal): Promise<void> {
    while (await this.placeSome()) signal.throwIfAborted();
    for (let block = await readSparseBlock(this.database); block; block = await readSparseBlock(this.database)) {
      for (let after: string | null = ''; after !== null; ) {
        signal.throwIfAborted();
        const from: string = after;
        const sparse = block;
        after = await this.pace.run(() => this.database.transaction((transaction) => compactTerms(transaction, sparse, from, COMPACTED_AT_ONCE)));
      }
      await endCompaction(this.database, block);
    }
  }

  /** @returns whether there may be more; false also where another writer has changed them meanwhile, until the next time */
  private async placeSome(): Promise<boolean> {
    const read = await readUnplacedChunks(this.database, INSERTED_AT_ONCE);
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

  private async place({ organizationId, agentId, scope }: UnplacedChunk, chunks: readonly UnplacedChunk[]): Promise<void> {
    const slice = new TimeSlice(COMPUTE_SLICE_MS);
    const language = detectLanguage(formsOf(...chunks.map(({ text }) => text)));
    const analyzer = new TermAnalyzer(language);
    const analyzed: { chunkId: string; terms: ChunkTerms }[] = [];
    for (const chunk of chunks) {
      analyzed.push({ chunkId: chunk.chunkId, terms: analyzer.termsOf(chunk) });
      await slice.rest();
    }
    await this.pace.run(() =>
      this.database.transaction(async (transaction) => {
        const partition = await lockPartition(transaction, { organizationId, agentId }, { scope: indexedScopeOf(scope), chunks: chunks.length, language });
        if ((await placeUnplaced(transaction, organizationId, partition, analyzed)) < chunks.length) throw new ChunksChanged();
      }),
    );
  }
}
