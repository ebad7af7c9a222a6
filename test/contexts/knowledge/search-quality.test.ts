import { beforeAll, expect, it } from '@jest/globals';
import { answerOf, missedAt, type QualitySet, readQualitySet, recallAt } from '../../support/question-set.js';
import { useService } from '../../support/harness.js';
import { Knowledge } from './support.js';

const service = useService();
const set: QualitySet = readQualitySet();
let search: (question: string) => Promise<string[]>;

beforeAll(async () => {
  const knowledge = await Knowledge.start(service);
  for (const { key, title, blocks } of set.documents) await knowledge.put(key, blocks, { title });
  const rows = await service.database.query<{ id: string; key: string; heading: string | null }>(
    'select c.id::text as id, d.key, c.heading from knowledge_chunks c join knowledge_documents d on d.id = c.document_id where c.agent_id = $1::uuid',
    [knowledge.agentId],
  );
  const answers = new Map(rows.map(({ id, key, heading }) => [id, answerOf(key, heading)]));
  const ask = async (question: string): Promise<string[]> =>
    (await (await knowledge.prepare(question)).top(5)).map(({ chunkId }) => answers.get(chunkId) ?? '');
  const asked = new Map<string, Promise<string[]>>();
  search = (question) => {
    const found = asked.get(question) ?? ask(question);
    asked.set(question, found);
    return found;
  };
});

it('finds the answer of at least four in five questions among the first five chunks, by keywords', async () => {
  expect(set.questions.length).toBeGreaterThanOrEqual(60);
  expect(await recallAt(5, set.questions, search)).toBeGreaterThanOrEqual(0.8);
});

it.each(['en', 'de', 'ru', 'zh'])(
  'finds nearly all answers in "%s" to questions with the words of the answer in any form',
  async (language) => {
    const asked = set.questions.filter((question) => question.language === language && !question.isParaphrase);
    const missed = await missedAt(5, asked, search);
    expect(missed.length / asked.length).toBeLessThanOrEqual(0.05);
  },
);
