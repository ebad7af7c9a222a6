import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { conceptVector } from '../../support/concept-vectors.js';
import { answerOf, type QualitySet, readQualitySet, recallAt } from '../../support/question-set.js';
import { search, untilEmbedded } from '../../support/embedded-knowledge.js';
import { EmbeddingServer } from '../../support/embedding-server.js';
import { startService, type TestService } from '../../support/harness.js';
import { Knowledge } from './support.js';

const set: QualitySet = readQualitySet();
const answers = new Map<string, string>();
let endpoint: EmbeddingServer;
let service: TestService;
let knowledge: Knowledge;

beforeAll(async () => {
  endpoint = await EmbeddingServer.start();
  endpoint.meaningOf = conceptVector;
  service = await startService({ environment: endpoint.environment });
  knowledge = await Knowledge.start(service);
  for (const { key, title, blocks } of set.documents) await knowledge.put(key, blocks, { title });
  await untilEmbedded(service, knowledge.agentId);
  const rows = await service.database.query<{ id: string; key: string; heading: string | null }>(
    'select c.id::text as id, d.key, c.heading from knowledge_chunks c join knowledge_documents d on d.id = c.document_id where c.agent_id = $1::uuid',
    [knowledge.agentId],
  );
  for (const { id, key, heading } of rows) answers.set(id, answerOf(key, heading));
});
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

function recallBy(semanticWeight: number, more: object = {}): Promise<number> {
  return recallAt(5, set.questions, async (question) => {
    const found = await search(service, { id: knowledge.organizationId }, knowledge.agentId, question, {
      semanticWeight,
      maxResults: 5,
      ...more,
    });
    return found.map(({ chunkId }) => answers.get(chunkId) ?? '');
  });
}

const ALL = { scoreThreshold: 0 };

it('keywords and meaning together find at least as many answers as the better of the two, with the default threshold too', async () => {
  const [keywords, meaning, hybrid] = [await recallBy(0, ALL), await recallBy(1, ALL), await recallBy(0.4, ALL)];
  expect(hybrid).toBeGreaterThanOrEqual(Math.max(keywords, meaning));
  // The simulated model must find answers that keywords do not find, or the test would show nothing.
  expect(hybrid).toBeGreaterThan(keywords);
  expect(await recallBy(0.4)).toBeGreaterThanOrEqual(Math.max(keywords, meaning));
});

it('the default threshold leaves results for every question', async () => {
  for (const { text } of set.questions) {
    const found = await search(service, { id: knowledge.organizationId }, knowledge.agentId, text);
    expect({ text, found: found.length }).not.toMatchObject({ found: 0 });
  }
});

it('the same pages, indexed in two orders, give the same passages in the same order', async () => {
  const other = await Knowledge.start(service);
  for (const { key, title, blocks } of set.documents.toReversed()) await other.put(key, blocks, { title });
  await untilEmbedded(service, other.agentId);
  const answersOf = async ({ organizationId, agentId }: Knowledge, question: string): Promise<object[]> => {
    const found = await search(service, { id: organizationId }, agentId, question, { ...ALL, maxResults: 10 });
    return found.map(({ url, heading, text, score }) => ({ url, heading, text, score }));
  };
  for (const { text } of set.questions.filter((_, index) => index % 4 === 0))
    expect(await answersOf(other, text)).toEqual(await answersOf(knowledge, text));
});
