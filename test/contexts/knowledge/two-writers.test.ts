import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type TestService, useService } from '../../support/harness.js';
import { filler, Knowledge, text } from './support.js';

const service = useService();
let replica: TestService;
beforeAll(async () => {
  replica = await service.replica();
});
afterAll(() => replica.close());

interface Pair {
  readonly here: Knowledge;
  readonly there: Knowledge;
}

async function pair(): Promise<Pair> {
  const here = await Knowledge.start(service);
  return { here, there: new Knowledge(replica, here.organizationId, here.agentId) };
}

it('a document that another process removed does not prevent a new one from being found', async () => {
  const { here, there } = await pair();
  const first = await here.put('a', text('lighthouse keeper'));
  await there.index.remove(there.organizationId, [first.documentId]);
  await there.put('c', text('other words'));
  await here.put('b', text('lighthouse keeper'));
  expect(await there.search('lighthouse')).toEqual(['b']);
  const { stored, expected } = await here.terms();
  expect(stored).toEqual(expected);
});

it('each chunk is found by exactly its words after concurrent puts and removals of two processes', async () => {
  const words = fc.array(fc.constantFrom('one', 'two', 'three', 'four-4', 'five', '退款申请'), {
    minLength: 0,
    maxLength: 5,
  });
  const change = fc.record({ key: fc.constantFrom('a', 'b', 'c'), words: fc.option(words) });
  const both = fc.record({ here: change, there: change });
  await fc.assert(
    fc.asyncProperty(fc.array(both, { minLength: 1, maxLength: 8 }), async (rounds) => {
      const knowledge = await pair();
      const ids = new Map<string, string>();
      const apply = async (by: Knowledge, { key, words }: { key: string; words: string[] | null }): Promise<void> => {
        const known = ids.get(key);
        if (words) ids.set(key, (await by.put(key, text(...words))).documentId);
        else if (known !== undefined) await by.index.remove(by.organizationId, [known]);
      };
      for (const round of rounds)
        await Promise.all([apply(knowledge.here, round.here), apply(knowledge.there, round.there)]);
      const { stored, expected } = await knowledge.here.terms();
      expect(stored).toEqual(expected);
    }),
    { numRuns: 15 },
  );
});

it('a document that two processes write at the same time is completely that of one of them', async () => {
  const { here, there } = await pair();
  const large = (word: string): ReturnType<typeof text> =>
    text(...Array.from({ length: 40 }, (_none, part) => filler(`${word}${'x'.repeat(part % 9)}${String(part)}z`)));
  await Promise.all([
    here.put('page', large('alpha')),
    there.put('page', large('beta')),
    here.put('small', text('alpha')),
    there.put('small', text('beta')),
  ]);
  const documents = await here.documentIds();
  expect(documents).toHaveLength(2);
  const chunks = (await Promise.all(documents.map((id) => here.chunks(id)))).map((rows) =>
    rows.map(({ text: content }) => content),
  );
  for (const texts of chunks) {
    const writers = new Set(texts.map((content) => (content.startsWith('alpha') ? 'alpha' : 'beta')));
    expect(writers.size).toBe(1);
  }
  expect(chunks.map((texts) => texts.length).sort((left, right) => left - right)).toEqual([1, 40]);
  const { stored, expected } = await here.terms();
  expect(stored).toEqual(expected);
});
