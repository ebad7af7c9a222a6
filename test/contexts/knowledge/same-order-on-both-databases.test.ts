import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readQualitySet } from '../../support/question-set.js';
import { contexts, schemasOf } from '../../../src/app.module.js';
import { DocumentWriter } from '../../../src/knowledge/index/application/indexing/document-writer.js';
import { DocumentIndex } from '../../../src/knowledge/index/application/indexing/document-index.js';
import { EmbeddingQueue } from '../../../src/knowledge/index/application/indexing/embedding-queue.js';
import { DocumentRepository } from '../../../src/knowledge/index/persistence/document.repository.js';
import { KeywordSearch } from '../../../src/knowledge/index/application/search/keyword-search.js';
import type { EmbeddingModel } from '../../../src/models/index.js';
import { SystemClock } from '../../../src/platform/clock/index.js';
import { migrate } from '../../../src/platform/database/index.js';
import { openPglite } from '../../../src/platform/database/embedded-database.js';
import type { BackgroundPace } from '../../../src/platform/http/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import type { Outbox } from '../../../src/platform/jobs/index.js';
import { clusterOnly } from '../../support/modes.js';
import { inMemory, preparedCluster } from '../../support/prepared-cluster.js';
import { openTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { filler, parsed, text } from './support.js';

const QUESTIONS = 40;
const set = readQualitySet();

interface Side {
  readonly open: TestDatabase;
  search(question: string): Promise<readonly string[]>;
}

type Put = readonly [key: string, title: string, blocks: Parameters<typeof parsed>[0]];

/** @param order sorts the documents before they are stored */
async function sideOf(open: TestDatabase, order: (documents: readonly Put[]) => readonly Put[]): Promise<Side> {
  const { database } = open;
  const [organizationId, agentId] = [newId(), newId()];
  await database.query(
    `insert into organizations (id, name, plan, features, created_at) values ($1::uuid, 'Same', 'free', '{}', now())`,
    [organizationId],
  );
  const clock = new SystemClock();
  const pace = { run: (work) => work() } as BackgroundPace;
  const repository = new DocumentRepository(database, clock);
  const queue = new EmbeddingQueue({} as Outbox, { model: undefined } as EmbeddingModel);
  const writer = new DocumentWriter(database, repository, queue, pace);
  const index = new DocumentIndex(database, repository, clock, writer, pace);
  const documents: Put[] = set.documents.map(({ key, title, blocks }) => [key, title, blocks]);
  for (let number = 0; number < 20; number += 1)
    documents.push([`filler ${number}`, 'Filler', text(filler(`laptop${number % 3}`))]);
  for (const [key, title, blocks] of order(documents)) {
    await index.put({ organizationId, agentId, kind: 'upload', key, title, url: null, scope: null }, parsed(blocks));
  }
  const rows = await database.query<{ id: string; name: string }>(
    `select c.id::text as id, d.key || '#' || c.position as name from knowledge_chunks c join knowledge_documents d on d.id = c.document_id`,
  );
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  const keywords = new KeywordSearch(database);
  const search = async (question: string): Promise<string[]> => {
    const prepared = await keywords.prepare({ organizationId, agentId, userContext: null }, question);
    return (await prepared.top(20)).map(({ chunkId, score }) => `${names.get(chunkId) ?? ''} ${score}`);
  };
  return { open, search };
}

clusterOnly('the embedded database and a server', () => {
  let sides: readonly Side[] = [];

  beforeAll(async () => {
    const schemas = schemasOf(contexts);
    const embedded = await openPglite(inMemory(await preparedCluster(schemas)), schemas);
    await migrate(embedded);
    const server = await openTestDatabase(schemas);
    sides = await Promise.all([
      sideOf({ ...embedded, url: undefined }, (documents) => documents),
      sideOf(server, (documents) => documents.toReversed()),
    ]);
  });
  afterAll(async () => {
    for (const { open } of sides) await open.close();
  });

  it('find the same chunks in the same order with the same scores, in whichever order they were stored', async () => {
    const every = Math.floor(set.questions.length / QUESTIONS);
    const questions = set.questions.filter((_, index) => index % every === 0).slice(0, QUESTIONS);
    expect(questions).toHaveLength(QUESTIONS);
    let found = 0;
    for (const { text: question } of questions) {
      const [embedded = [], server = []] = await Promise.all(sides.map((side) => side.search(question)));
      expect(server).toEqual(embedded);
      found += embedded.length;
    }
    expect(found).toBeGreaterThan(QUESTIONS);
  });
});
