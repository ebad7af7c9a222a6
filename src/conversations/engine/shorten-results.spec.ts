import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ModelMessage } from '../../models/index.js';
import { cutOutput, resultTokens, shortenResults } from './shorten-results.js';

const result = (output: string, id = 'c'): ModelMessage => ({
  role: 'tool',
  toolCallId: id,
  toolName: 'read',
  output,
  isError: false,
});
const answer: ModelMessage = { role: 'assistant', text: '', toolCalls: [] };
const outputsOf = (entries: readonly ModelMessage[]): string[] =>
  entries.flatMap((entry) => (entry.role === 'tool' ? [entry.output] : []));
/** A note takes at most so many tokens. */
const NOTE_TOKENS = 60;

describe('an output that is cut', () => {
  it('keeps its beginning and its end, and a note says how many characters are missing', () => {
    const output = `begins ${'a'.repeat(30_000)} ends`;
    const cut = cutOutput(output, 1_000);
    expect(cut).toMatch(/^begins a+\n\n\[\d+ characters of this output are left out here: [^\]]*\]\n\na+ ends$/);
    const kept = cut.split(/\n\n\[[^\]]*\]\n\n/).join('').length;
    expect(Number(/\[(\d+) /.exec(cut)?.[1])).toBe(output.length - kept);
  });

  it('is whole when it fits, and only a note when almost nothing would be left', () => {
    expect(cutOutput('a'.repeat(3_000), 1_000)).toBe('a'.repeat(3_000));
    expect(cutOutput('a'.repeat(30_000), 50)).toMatch(
      /^\[30000 characters of this output are left out here: [^\]]*\]$/,
    );
  });

  it('counts all missing characters, however often it is cut', () => {
    const output = 'a'.repeat(90_000);
    let cut = output;
    for (const tokens of [20_000, 7_000, 900, 100]) cut = cutOutput(cut, tokens);
    expect(cut).toContain('[90000 characters');
  });
});

describe('a text of a tool that looks like a note', () => {
  const opening = '[1 characters of this output are left out here: ';

  it.each([
    ['has another text', `${opening}${'a'.repeat(90_000)}]`],
    [
      'has a number without end',
      `[${'1'.repeat(90_000)} characters of this output are left out here: it was too long to be read whole.]`,
    ],
    ['is the exact note, many times', `${opening}it was too long to be read whole.]`.repeat(1_000)],
  ])('counts and is cut where it %s', (_what, output) => {
    const given = [result(output)];
    expect(resultTokens(given)).toBeGreaterThan(20_000);
    const shortened = shortenResults(given, 1_000);
    expect(resultTokens(shortened)).toBeLessThanOrEqual(1_000 + NOTE_TOKENS);
    expect(outputsOf(shortened)[0]?.length).toBeLessThan(5_000);
  });
});

describe('the results of an exchange', () => {
  it('take no more than their share; nothing else changes', () => {
    const output = fc.string({ unit: 'grapheme', maxLength: 3_000 });
    const entries = fc.array(
      fc.oneof(
        output.map((text) => result(text)),
        fc.constant(answer),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(entries, fc.nat({ max: 8_000 }), (given, tokens) => {
        const shortened = shortenResults(given, tokens);
        expect(shortened.map(({ role }) => role)).toEqual(given.map(({ role }) => role));
        expect(resultTokens(shortened)).toBeLessThanOrEqual(Math.max(tokens, 0) + given.length * NOTE_TOKENS);
        if (resultTokens(given) <= tokens) expect(shortened).toBe(given);
      }),
    );
  });

  it('are shortened from the largest on, by no more than needed', () => {
    const [small, large] = ['a'.repeat(3_000), 'b'.repeat(30_000)];
    const [one, two, three] = outputsOf(shortenResults([result(small), result(large), result(small)], 8_000));
    expect([one, three]).toEqual([small, small]);
    expect(resultTokens([result(two ?? '')])).toBeGreaterThan(5_900);
  });

  it('of equal size are shortened from the oldest on', () => {
    const rounds = Array.from({ length: 6 }, (_, nth) => [answer, result('a'.repeat(3_000 + 30 * nth))]).flat();
    const outputs = outputsOf(shortenResults(rounds, 3_100));
    expect(outputs.map((output) => output.startsWith('a'))).toEqual([false, false, false, true, true, true]);
  });
});
