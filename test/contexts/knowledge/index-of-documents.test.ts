import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useService } from '../../support/harness.js';
import { filler, Knowledge, text } from './support.js';

const service = useService();

it('keeps unchanged chunks when others change', async () => {
  const knowledge = await Knowledge.start(service);
  const { documentId } = await knowledge.put('page', text(filler('a'), filler('b'), filler('c')));
  const before = await knowledge.chunks(documentId);
  expect(before).toHaveLength(3);
  const changed = await knowledge.put('page', text(filler('new'), filler('a'), filler('c')));
  expect(changed).toMatchObject({ documentId, isUnchanged: false, chunks: 3 });
  const after = await knowledge.chunks(documentId);
  expect(after.map(({ id }) => id).slice(1)).toEqual([before[0]?.id, before[2]?.id]);
  expect(await knowledge.put('page', text(filler('new'), filler('a'), filler('c')))).toMatchObject({
    isUnchanged: true,
  });
});

it('stores nothing of a document of any size that is not accepted', async () => {
  const knowledge = await Knowledge.start(service);
  for (const parts of [1, 80]) {
    const blocks = text(...Array.from({ length: parts }, (_, part) => filler(`p${'x'.repeat(part % 9)}${part}q`)));
    const refused = await knowledge.index.put(
      knowledge.source('page'),
      { format: 'text', title: null, language: null, blocks, page: null },
      () => Promise.resolve(false),
    );
    expect(refused).toBeNull();
    expect(await knowledge.documentIds()).toEqual([]);
    expect(await knowledge.terms()).toEqual({ stored: [], expected: [] });
  }
});

it('shows and removes a large document at once', async () => {
  const knowledge = await Knowledge.start(service);
  const blocks = text('needle', ...Array.from({ length: 90 }, (_, part) => filler(`word${part}z`)));
  let found: string[] | undefined;
  const indexed = await knowledge.put('large', blocks, {
    accept: async (transaction, { documentId }) => {
      const [row] = await transaction.query<{ staged: number }>(
        'select count(*)::integer as staged from knowledge_chunks where document_id = $1::uuid',
        [documentId],
      );
      found = [String(row?.staged)];
      return true;
    },
  });
  expect(found).toEqual([String(indexed.chunks)]);
  expect(await knowledge.search('needle')).toEqual(['large']);
  expect(await knowledge.index.hasChunks(knowledge.organizationId, knowledge.agentId)).toBe(true);
  const foreign = await Knowledge.start(service);
  await foreign.index.remove(foreign.organizationId, [indexed.documentId]);
  expect(await knowledge.search('needle')).toEqual(['large']);
  await knowledge.index.remove(knowledge.organizationId, [indexed.documentId]);
  expect(await knowledge.index.hasChunks(knowledge.organizationId, knowledge.agentId)).toBe(false);
  expect(await knowledge.terms()).toEqual({ stored: [], expected: [] });
});

it('accepts concurrent writes, and keeps organizations apart', async () => {
  const [knowledge, foreign] = [await Knowledge.start(service), await Knowledge.start(service)];
  const contents = ['alpha', 'beta', 'gamma', 'delta'];
  await Promise.all(
    contents.map((content) =>
      knowledge.put('page', text(content, ...Array.from({ length: 50 }, (_, part) => filler(`${content}${part}z`)))),
    ),
  );
  expect((await knowledge.documentIds()).length).toBe(1);
  const found = await Promise.all(contents.map(async (content) => (await knowledge.search(content)).length));
  expect(found.reduce((sum, one) => sum + one, 0)).toBe(1);
  for (const content of contents) expect(await foreign.search(content)).toEqual([]);
  const { stored, expected } = await knowledge.terms();
  expect(stored).toEqual(expected);
});

it('finds a document with a scope only if the user has all of it', async () => {
  const knowledge = await Knowledge.start(service);
  await knowledge.put('scoped', text('treasure map'), { scope: { plan: 'gold', seats: 3 } });
  expect(await knowledge.search('treasure')).toEqual([]);
  expect(await knowledge.search('treasure', { plan: 'gold' })).toEqual([]);
  expect(await knowledge.search('treasure', { plan: 'gold', seats: 3, more: true })).toEqual(['scoped']);
});

it('finds each chunk by exactly its words after any puts and removals', async () => {
  const change = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    words: fc.option(
      fc.array(fc.constantFrom('one', 'two', 'three', 'four-4', '退款申请'), { minLength: 0, maxLength: 5 }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const knowledge = await Knowledge.start(service);
      const ids = new Map<string, string>();
      for (const { key, words } of changes) {
        if (words) ids.set(key, (await knowledge.put(key, text(...words))).documentId);
        else
          await knowledge.index.remove(
            knowledge.organizationId,
            [...ids].filter(([known]) => known === key).map(([, id]) => id),
          );
      }
      const { stored, expected } = await knowledge.terms();
      expect(stored).toEqual(expected);
    }),
    { numRuns: 15 },
  );
});
