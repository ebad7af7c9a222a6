import { expect, it } from '@jest/globals';
import { longestTurnShare } from '../../support/computing-time.js';
import { useService } from '../../support/harness.js';
import { Knowledge, text } from './support.js';

const service = useService();

const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
/** Some of the longest words that are indexed: similar words are compared letter by letter. */
const LONG = `abc${'ing'.repeat(4)}${'ationalizationesses'.repeat(2)}`;

const QUERIES = 6;

it('queries of many long words that nearly match a document do not block the thread', async () => {
  const knowledge = await Knowledge.start(service);
  const words = LETTERS.flatMap((one) =>
    LETTERS.flatMap((other) => LETTERS.slice(0, 8).map((third) => `${LONG}q${one}${other}${third}wxyzs`)),
  );
  await knowledge.put('words', text(words.join(' ')));
  const query = LETTERS.slice(0, 2)
    .flatMap((one) => LETTERS.map((other) => `${LONG}${one}${other}xyzs`))
    .join(' ');
  const asked = async (): Promise<void> => {
    for (let count = 0; count < QUERIES; count += 1) await (await knowledge.prepare(query)).top(10);
  };
  expect(await longestTurnShare(asked)).toBeLessThan(0.8 / QUERIES);
});
