import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { contexts, schemasOf } from '../../../src/app.module.js';
import { DocumentWriter } from '../../../src/knowledge/index/application/indexing/document-writer.js';
import { DELETED_AT_ONCE, INSERTED_AT_ONCE } from '../../../src/knowledge/index/limits.js';
import { DocumentIndex } from '../../../src/knowledge/index/application/indexing/document-index.js';
import { EmbeddingQueue } from '../../../src/knowledge/index/application/indexing/embedding-queue.js';
import { DocumentRepository } from '../../../src/knowledge/index/persistence/document.repository.js';
import type { EmbeddingModel } from '../../../src/models/index.js';
import { SystemClock } from '../../../src/platform/clock/index.js';
import { BackgroundPace } from '../../../src/platform/http/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import type { Outbox } from '../../../src/platform/jobs/index.js';
import { openTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { filler, parsed, text } from './support.js';

const CHUNKS = 2 * Math.max(INSERTED_AT_ONCE, DELETED_AT_ONCE) + 1;
let open: TestDatabase;

beforeAll(async () => {
  open = await openTestDatabase(schemasOf(contexts));
});
afterAll(() => open.close());

/** Counts the pieces of work between which requests take their turn. */
class CountedPace extends BackgroundPace {
  pieces = 0;

  override run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.pieces += 1;
    return super.run(work);
  }
}

it('stores and removes a large document in pieces, between which requests take their turn', async () => {
  const { database } = open;
  const pace = new CountedPace({ count: 0 } as ConstructorParameters<typeof BackgroundPace>[0]);
  const clock = new SystemClock();
  const repository = new DocumentRepository(database, clock);
  const queue = new EmbeddingQueue({} as Outbox, { model: undefined } as EmbeddingModel);
  const writer = new DocumentWriter(database, repository, queue, pace);
  const index = new DocumentIndex(database, repository, clock, writer, pace);
  const [organizationId, agentId] = [newId(), newId()];
  await database.query(
    `insert into organizations (id, name, plan, features, created_at) values ($1::uuid, 'Paced', 'free', '{}', now())`,
    [organizationId],
  );
  const blocks = Array.from({ length: CHUNKS }, (_, number) => text(filler(`word${number}`))).flat();
  const source = {
    organizationId,
    agentId,
    kind: 'upload',
    key: 'large',
    title: 'Large',
    url: null,
    scope: null,
  } as const;

  const stored = await index.put(source, parsed(blocks));
  const chunks = stored?.chunks ?? 0;
  expect(chunks).toBeGreaterThanOrEqual(CHUNKS);
  expect(pace.pieces).toBeGreaterThan(chunks / INSERTED_AT_ONCE);

  pace.pieces = 0;
  await index.remove(organizationId, [stored?.documentId ?? '']);
  expect(await index.measureUsage(organizationId, agentId, 'upload')).toEqual({ chunks: 0, bytes: 0 });
  expect(pace.pieces).toBeGreaterThan(chunks / DELETED_AT_ONCE);
});
