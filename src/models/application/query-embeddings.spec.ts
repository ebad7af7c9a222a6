import { beforeEach, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { EmbeddingModel, type EmbeddingResult } from '../domain/embedding-model.js';
import type { Logger } from '../../platform/telemetry/index.js';
import { QUERY_EMBEDDING_MS, QUERY_PAUSE_MS, QueryEmbeddings } from './query-embeddings.js';

/** Answers no request until its signal aborts. */
class HangingModel extends EmbeddingModel {
  override readonly model = 'test-1';
  asked = 0;

  override embed(_model: string, _texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResult> {
    this.asked += 1;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  }
}

let clock: ManualClock;
let endpoint: HangingModel;
let queries: QueryEmbeddings;
const { signal } = new AbortController();

beforeEach(() => {
  clock = new ManualClock();
  endpoint = new HangingModel();
  queries = new QueryEmbeddings(endpoint, clock, { warn: () => undefined } as unknown as Logger);
});

it('continues without a vector when the endpoint hangs, and sends it no request for a while', async () => {
  const first = queries.vectorFor('test-1', 'lions', signal);
  await clock.untilPending();
  await clock.advance(QUERY_EMBEDDING_MS);
  expect(await first).toBeUndefined();
  expect(await queries.vectorFor('test-1', 'tigers', signal)).toBeUndefined();
  expect(endpoint.asked).toBe(1);

  await clock.advance(QUERY_PAUSE_MS);
  const later = queries.vectorFor('test-1', 'bears', signal);
  await clock.untilPending();
  expect(endpoint.asked).toBe(2);
  await clock.advance(QUERY_EMBEDDING_MS);
  expect(await later).toBeUndefined();
});

it('stops waiting when the search aborts', async () => {
  const search = new AbortController();
  const vector = queries.vectorFor('test-1', 'lions', search.signal);
  search.abort(new Error('The client has left'));
  await expect(vector).rejects.toThrow('The client has left');
});
