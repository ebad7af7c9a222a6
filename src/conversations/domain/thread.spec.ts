import { describe, expect, it } from '@jest/globals';
import { titleOf } from './thread.js';

describe('the title of a thread', () => {
  it.each([
    ['Which bicycle?', 'Which bicycle?'],
    ['\n  Two   words \nand more', 'Two words'],
    ['   \n ', null],
    ['x'.repeat(61), `${'x'.repeat(60)}…`],
    ['🚲'.repeat(61), `${'🚲'.repeat(60)}…`],
  ])('of %j is %j', (question, title) => {
    expect(titleOf(question)).toBe(title);
  });

  it('ends at a word', () => {
    const title = titleOf('How do I get from the central station to the harbour on a Sunday evening?');

    expect(title).toBe('How do I get from the central station to the harbour on a…');
  });
});
