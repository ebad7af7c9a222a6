import { describe, expect, it } from '@jest/globals';
import type { Block } from '../../parsing/domain/parsed-document.js';
import { repeatedBlocks, withoutRepeated } from './repeated-blocks.js';

const text = (content: string): Block => ({ kind: 'text', text: content });
const heading = (content: string, level = 2): Block => ({ kind: 'heading', level, text: content });
const page = (number: number, ...more: Block[]): Block[] => [
  text('Home | Docs | Shop'),
  heading(`Page ${number}`, 1),
  text(`What page ${number} is about.`),
  ...more,
];
const pages = (count: number, more: (number: number) => Block[] = () => []): Block[][] =>
  Array.from({ length: count }, (_none, number) => page(number, ...more(number)));
const none: ReadonlySet<string> = new Set();
const texts = (blocks: readonly Block[]): string[] =>
  blocks.map((block) => (block.kind === 'table' ? 'table' : block.text));

describe('blocks that are on most pages of a site', () => {
  it('are removed from all of them, whatever their white space', () => {
    const repeated = repeatedBlocks(pages(5), none);
    expect(
      texts(withoutRepeated([text(' Home |  Docs\n| Shop'), heading('Page 9', 1), text('Nine.')], repeated)),
    ).toEqual(['Page 9', 'Nine.']);
  });

  it('do not include equal definitions of different terms', () => {
    const defined = (number: number): Block[] => [{ kind: 'text', text: 'See the manual.', term: `option-${number}` }];
    const repeated = repeatedBlocks(pages(5, defined), none);
    expect(texts(withoutRepeated(page(1, ...defined(1)), repeated))).toContain('See the manual.');
  });

  it('are kept where they are on few pages, and on sites of few pages', () => {
    const seldom = repeatedBlocks(
      pages(10, (number) => (number < 5 ? [text('A note.')] : [])),
      none,
    );
    expect(texts(withoutRepeated(page(1, text('A note.')), seldom))).toEqual([
      'Page 1',
      'What page 1 is about.',
      'A note.',
    ]);
    expect(repeatedBlocks(pages(4), none).size).toBe(0);
  });

  it('count once of pages with the same text', () => {
    expect(repeatedBlocks([...pages(3), page(0), page(0)], none).size).toBe(0);
  });

  it('stay the same while a later sample is similar or too small', () => {
    const earlier = repeatedBlocks(
      pages(10, (number) => (number < 6 ? [text('Often.')] : [])),
      none,
    );
    const later = (count: number): ReadonlySet<string> =>
      repeatedBlocks(
        pages(10, (number) => (number < count ? [text('Often.')] : [])),
        earlier,
      );
    expect(later(4)).toEqual(earlier);
    expect(later(3).size).toBe(1);
    expect(repeatedBlocks(pages(4), earlier)).toEqual(earlier);
  });

  it('are removed with their heading only', () => {
    const repeated = repeatedBlocks(
      pages(5, () => [heading('See also'), text('Our other sites.'), heading('Notes')]),
      none,
    );
    const own = [heading('See also'), text('Our other sites.'), heading('Notes'), text('A note of this page.')];
    expect(texts(withoutRepeated([text('Own.'), ...own], repeated))).toEqual(['Own.', 'Notes', 'A note of this page.']);
    expect(texts(withoutRepeated([text('Own.'), heading('Notes')], repeated))).toEqual(['Own.', 'Notes']);
  });

  it('are kept on a page that has nothing else', () => {
    const repeated = repeatedBlocks(pages(5), none);
    expect(texts(withoutRepeated([text('Home | Docs | Shop')], repeated))).toEqual(['Home | Docs | Shop']);
    expect(texts(withoutRepeated([heading('Imprint', 1), text('Home | Docs | Shop')], repeated))).toEqual([
      'Imprint',
      'Home | Docs | Shop',
    ]);
  });

  it('are at most some hundred, the most frequent ones', () => {
    const repeated = repeatedBlocks(
      pages(5, (number) => (number < 4 ? Array.from({ length: 1_000 }, (_none, line) => text(`Line ${line}`)) : [])),
      none,
    );
    expect(repeated.size).toBe(300);
    expect(texts(withoutRepeated(page(1), repeated))).toEqual(['Page 1', 'What page 1 is about.']);
  });
});
