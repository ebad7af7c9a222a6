import { expect, it } from '@jest/globals';
import { longestTurnShare } from '../../support/computing-time.js';
import { useService } from '../../support/harness.js';
import { Knowledge, text } from './support.js';

const service = useService();

const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
/** Some of the longest words that are indexed: what is nearly the same is compared letter by letter. */
const LONG = `abc${'ing'.repeat(4)}${'ationalizationesses'.repeat(2)}`;

it('a query of many long words that are nearly in the vocabulary leaves the thread to others', async () => {
  const knowledge = await Knowledge.start(service);
  const words = LETTERS.flatMap((one) => LETTERS.flatMap((other) => ['a', 'b'].map((third) => `${LONG}q${one}${other}${third}wxyzs`)));
  await knowledge.put('words', text(words.join(' ')));
  const query = LETTERS.slice(0, 2).flatMap((one) => LETTERS.map((other) => `${LONG}${one}${other}xyzs`)).join(' ');
  expect(await longestTurnShare(() => knowledge.prepare(query))).toBeLessThan(0.4);
});
