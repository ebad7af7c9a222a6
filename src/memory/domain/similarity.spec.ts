import { expect, it } from '@jest/globals';
import { commonTerms, packTerms } from './packed-terms.js';
import { isSimilar, saysTheSame } from './similarity.js';
import { termsOf } from './terms.js';

function relation(before: string, after: string): string {
  if (saysTheSame(before, after)) return 'same';
  const [stored, saved] = [packTerms(termsOf(before)), packTerms(termsOf(after))];
  return isSimilar({ common: commonTerms(stored, saved), stored: stored.length, saved: saved.length })
    ? 'similar'
    : 'different';
}

it.each([
  ['Likes tea.', 'likes  tea', 'same'],
  ['The user likes tea', 'User likes tea!', 'same'],
  ['Likes “green” tea, in the morning', 'likes green tea in the morning.', 'same'],
  ['彼女は毎朝緑茶を飲みます', '彼女は毎朝緑茶を飲みます。', 'same'],
  ['Caf\u00e9', 'cafe\u0301', 'same'],
  ['Flies to Rome on the 12th of May at ten', 'Flies to Rome on the 13th of May at ten', 'similar'],
  ['Is allergic to nuts milk eggs and wheat', 'Is not allergic to nuts milk eggs and wheat', 'similar'],
  ['Lives in Berlin with two cats', 'Lives in Paris with two cats', 'similar'],
  ['Ann is older than Ben', 'Ben is older than Ann', 'similar'],
  ['Drives from Paris to Rome', 'Drives from Rome to Paris', 'similar'],
  ['Blood group of her son is A+', 'Blood group of her son is A-', 'similar'],
  ['Programs in C', 'Programs in C++', 'similar'],
  ['Likes it at -5 degrees', 'Likes it at 5 degrees', 'similar'],
  ['Pays €50', 'Pays $50', 'similar'],
  ['Costs 2.5 or so', 'Costs 2 5 or so', 'similar'],
  ['Rates the hotel 👍', 'Rates the hotel 👎', 'similar'],
  ['Works for US', 'Works for us', 'similar'],
  [`Has the key ${'a'.repeat(65)}b`, `Has the key ${'a'.repeat(65)}c`, 'similar'],
  ['Likes tea', 'Works in Leeds as a nurse', 'different'],
  ['!!!', '???', 'different'],
])('%j and %j are %s', (before, after, expected) => {
  expect([relation(before, after), relation(after, before)]).toEqual([expected, expected]);
});
