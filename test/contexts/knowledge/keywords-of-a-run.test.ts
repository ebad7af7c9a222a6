import { expect, it } from '@jest/globals';
import type { ActiveJob } from '../../../src/platform/jobs/index.js';
import { MaintainPostings } from '../../../src/knowledge/index/jobs/maintain-postings.job.js';
import { useService } from '../../support/harness.js';
import { Knowledge, text } from './support.js';

const service = useService();
const CHUNKS_A_DOCUMENT = 100;

/** Each text becomes a chunk. */
function parts(texts: readonly string[]): Parameters<Knowledge['put']>[1] {
  return texts.flatMap((content, part) => [
    { kind: 'heading' as const, level: 1, text: `Part ${String(part)}` },
    { kind: 'text' as const, text: content },
  ]);
}

async function putAll(
  knowledge: Knowledge,
  key: string,
  texts: readonly string[],
  scope: Readonly<Record<string, string>> | null,
): Promise<void> {
  for (let first = 0; first < texts.length; first += CHUNKS_A_DOCUMENT)
    await knowledge.put(`${key}${String(first)}`, parts(texts.slice(first, first + CHUNKS_A_DOCUMENT)), {
      title: 'Notes',
      scope,
    });
}

/** The words of the invoice term, each in its own sentence. */
function scattered(number: number): string {
  const filler = Array.from({ length: 12 }, (_, word) => `filler${String((number * 7 + word) % 90)}`).join(' ');
  return `Our invoice ${filler} counts. The payment ${filler} of each term ${filler} is so, and the days ${filler} too.`;
}

it('20 visible files are found among 1,200 hidden chunks with the same words', async () => {
  const knowledge = await Knowledge.start(service);
  await putAll(
    knowledge,
    'hidden',
    Array.from({ length: 1_200 }, (_, number) => `holiday allowance number ${String(number)}`),
    { team: 'other' },
  );
  for (let number = 0; number < 20; number += 1)
    await knowledge.put(`seen ${String(number)}`, text(`The holiday allowance of office ${String(number)}`));
  const found = await (await knowledge.prepare('holiday allowance')).top(50);
  expect(found).toHaveLength(20);
});

it('chunks with a sentence rank above chunks with its words scattered', async () => {
  const knowledge = await Knowledge.start(service);
  await putAll(
    knowledge,
    'scattered',
    Array.from({ length: 600 }, (_, number) => scattered(number)),
    null,
  );
  for (let number = 0; number < 20; number += 1)
    await knowledge.put(`term ${String(number)}`, text(`The invoice payment term is ${String(number + 5)} days`));
  const found = await knowledge.search('What is the invoice payment term in days?');
  expect(found).toHaveLength(10);
  expect(found.every((key) => key.startsWith('term'))).toBe(true);
});

it('hidden documents and other agents do not influence scores', async () => {
  const [knowledge, foreign] = [await Knowledge.start(service), await Knowledge.start(service)];
  await putAll(
    knowledge,
    'seen',
    Array.from({ length: 30 }, (_, number) => scattered(number)),
    null,
  );
  const ask = async () =>
    (await (await knowledge.prepare('invoice payment secretword')).top(20)).map(({ chunkId, score }) => ({
      chunkId,
      score,
    }));
  const before = await ask();
  expect(before).toHaveLength(20);
  const hidden = Array.from({ length: 60 }, (_, number) => `invoice secretword ${String(number)}`);
  await putAll(knowledge, 'hidden', hidden, { user: 'another' });
  await putAll(foreign, 'foreign', hidden, null);
  expect(await ask()).toEqual(before);
});

it('a document whose scope changes is found only by users of its new scope', async () => {
  const knowledge = await Knowledge.start(service);
  await knowledge.put('page', text('treasure map'));
  await knowledge.put('page', text('treasure map'), { scope: { plan: 'gold' } });
  expect(await knowledge.search('treasure')).toEqual([]);
  expect(await knowledge.search('treasure', { plan: 'gold' })).toEqual(['page']);
  const { stored, expected } = await knowledge.terms();
  expect(stored).toEqual(expected);
});

it('keywords find chunks of a former version of the service after the maintenance', async () => {
  const knowledge = await Knowledge.start(service);
  await putAll(
    knowledge,
    'old',
    Array.from({ length: 70 }, (_, number) => `lighthouse keeper ${String(number)}`),
    { plan: 'gold' },
  );
  await service.database.query(
    'delete from knowledge_postings where partition in (select id from knowledge_partitions where agent_id = $1::uuid)',
    [knowledge.agentId],
  );
  await service.database.query(
    'update knowledge_chunks set partition = null, number = null, length = null where agent_id = $1::uuid',
    [knowledge.agentId],
  );
  await service.database.query('delete from knowledge_partitions where agent_id = $1::uuid', [knowledge.agentId]);
  expect(await knowledge.search('lighthouse', { plan: 'gold' })).toEqual([]);
  await service.app.get(MaintainPostings).process({ signal: new AbortController().signal } as ActiveJob);
  expect(await knowledge.search('lighthouse', { plan: 'gold' })).toEqual(['old0']);
  expect(await knowledge.search('lighthouse')).toEqual([]);
  const { stored, expected } = await knowledge.terms();
  expect(stored).toEqual(expected);
});

it('postings of deleted chunks are removed, and the others are still found', async () => {
  const knowledge = await Knowledge.start(service);
  const keys = Array.from({ length: 6 }, (_, number) => `page ${String(number)}`);
  const ids = [];
  for (const key of keys)
    ids.push(
      (
        await knowledge.put(
          key,
          parts(
            Array.from(
              { length: CHUNKS_A_DOCUMENT },
              (_, part) => `harbour part${String(part)} ${key.replace(' ', '')}x${String(part)}`,
            ),
          ),
        )
      ).documentId,
    );
  await knowledge.index.remove(knowledge.organizationId, ids.slice(1, 5));
  const storedTerms = async (): Promise<number> => {
    const [row] = await service.database.query<{ count: number }>(
      'select count(*)::integer as count from knowledge_postings where block = 0 and partition in (select id from knowledge_partitions where agent_id = $1::uuid)',
      [knowledge.agentId],
    );
    return row?.count ?? 0;
  };
  const [before, found] = [await storedTerms(), await (await knowledge.prepare('harbour part7')).top(300)];
  await service.app.get(MaintainPostings).process({ signal: new AbortController().signal } as ActiveJob);
  expect(await storedTerms()).toBeLessThan(before);
  expect(await (await knowledge.prepare('harbour part7')).top(300)).toEqual(found);
  const { stored, expected } = await knowledge.terms();
  expect(stored).toEqual(expected);
});
