import { expect, it } from '@jest/globals';
import { relationOf } from './similarity.js';
import { commonTerms, packTerms } from './packed-terms.js';
import { termsOf } from './terms.js';

function relation(before: string, after: string): string {
  const [stored, saved] = [packTerms(termsOf(before)), packTerms(termsOf(after))];
  return relationOf({ common: commonTerms(stored, saved), stored: stored.length, saved: saved.length });
}

it.each([
  ['Likes tea.', 'LIKES TEA', 'same'],
  ['Café in Köln', 'cafe in koln', 'same'],
  ['Likes green tea with milk in the morning', 'Likes green tea with milk in the early morning', 'same'],
  ['Flies to Rome on the 12th of May at ten', 'Flies to Rome on the 13th of May at ten', 'similar'],
  ['Is allergic to nuts and shellfish', 'Is not allergic to nuts', 'similar'],
  ['Lives in Berlin with two cats', 'Lives in Paris with two cats', 'similar'],
  ['Likes tea', 'Works in Leeds as a nurse', 'different'],
  ['!!!', 'Likes tea', 'different'],
])('%j and %j are %s', (before, after, expected) => {
  expect([relation(before, after), relation(after, before)]).toEqual([expected, expected]);
});
