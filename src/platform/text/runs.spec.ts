import { expect, it } from '@jest/globals';
import { nextRun, type Run } from './runs.js';

const RUN = /[\p{L}\p{N}\p{M}_]+(?:[-./'’][\p{L}\p{N}\p{M}_]+)*/gu;
const ALPHABET = [
  'a',
  'z',
  '0',
  '9',
  '_',
  '-',
  '.',
  '/',
  "'",
  '’',
  ' ',
  '\n',
  ',',
  '€',
  '–',
  'ü',
  'й',
  '退',
  '\u0301',
  '😀',
  '𝒳',
  'A',
  '\u00a0',
  '\ud800',
];

function runsOf(text: string): Run[] {
  const runs: Run[] = [];
  for (let run = nextRun(text, 0); run; run = nextRun(text, run.at + run.text.length)) runs.push(run);
  return runs;
}

it('splits any text as the expression alone would', () => {
  let state = 7;
  const next = (below: number): number => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) % below;
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: 1 + next(12) }, () => ALPHABET[next(65_521) % ALPHABET.length]).join('');
    const expected = [...text.matchAll(RUN)].map(({ 0: run, index }) => ({
      text: run,
      at: index,
      isPlain: /^[a-z0-9]+$/.test(run),
    }));
    expect(runsOf(text)).toEqual(expected);
  }
});
