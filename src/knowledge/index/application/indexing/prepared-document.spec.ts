import { expect, it } from '@jest/globals';
import { longestTurnShare } from '../../../../../test/support/computing-time.js';
import type { IndexedSource } from './indexed-document.js';
import { prepareDocument } from './prepared-document.js';

const SOURCE: IndexedSource = {
  organizationId: 'o',
  agentId: 'a',
  kind: 'upload',
  key: 'k',
  title: 'title',
  url: null,
  scope: null,
};

it.each(['— ', '\u202e'])(
  'a long text of %j, without words that show its language, does not block the thread',
  async (part) => {
    const blocks = [{ kind: 'text' as const, text: part.repeat(3_000_000 / part.length) }];
    expect(
      await longestTurnShare(() =>
        prepareDocument(SOURCE, { format: 'text', title: null, language: null, blocks, page: null }),
      ),
    ).toBeLessThan(0.3);
  },
);
