import { Injectable } from '@nestjs/common';
import { EmbeddingModel } from '../domain/embedding-model.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock, untilAborted } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';

/** How long a search waits for the vector of its query; after that it searches by words only. */
export const QUERY_EMBEDDING_MS = 2_000;
/** After a failed request for a vector, searches go without vectors for this long. */
export const QUERY_PAUSE_MS = 5_000;
/** How long, and how many, vectors of queries are cached. */
const QUERY_CACHE_MS = 5 * 60_000;
const QUERY_CACHE_ENTRIES = 500;
/** A longer query is embedded by its beginning. */
const QUERY_CHARACTERS = 4_000;

const TOO_LATE = new Error('The embeddings endpoint did not return the vector of the query in time');

/** The vectors of search queries. A search goes without its vector if it fails or comes too late. */
@Injectable()
export class QueryEmbeddings {
  private readonly cache: TtlCache<readonly number[]>;
  private pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly endpoint: EmbeddingModel,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.cache = new TtlCache({ clock, ttlMs: QUERY_CACHE_MS, maxEntries: QUERY_CACHE_ENTRIES });
  }

  /** @returns undefined if there is no vector in time @throws the reason of `signal` when it aborts */
  async vectorFor(model: string, query: string, signal: AbortSignal): Promise<readonly number[] | undefined> {
    const text = query.slice(0, QUERY_CHARACTERS).toWellFormed();
    // Searches for the same query share one request. A search that aborts does not abort it.
    const vector = this.cache.get(JSON.stringify([model, text]), () => this.load(model, text));
    return untilAborted(vector, signal);
  }

  private async load(model: string, text: string): Promise<readonly number[] | undefined> {
    if (this.clock.monotonic() < this.pausedUntil) return undefined;
    const late = new AbortController();
    const cancel = this.clock.after(QUERY_EMBEDDING_MS, () => late.abort(TOO_LATE));
    try {
      const result = await this.endpoint.embed(model, [text], late.signal);
      if (result.kind === 'vectors') return result.vectors[0];
      this.pause({ model, failure: result.kind, detail: result.detail });
    } catch (error) {
      if (!late.signal.aborted) throw error;
      this.pause({ model, failure: 'late' });
    } finally {
      cancel();
    }
    return undefined;
  }

  private pause(fields: object): void {
    this.pausedUntil = this.clock.monotonic() + QUERY_PAUSE_MS;
    this.logger.warn(fields, 'A query has no vector: searches use words only for a few seconds');
  }
}
