import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { marked, type Token, type Tokens } from 'marked';
import { COMPONENTS } from './components.js';

type Input = Readonly<Record<string, unknown>>;

function fallback(name: keyof typeof COMPONENTS, input: Input): string {
  const result = COMPONENTS[name].read(input);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.presented.fallback;
}

/** All tokens of the Markdown, inner ones after outer ones. */
function tokensOf(markdown: string): Token[] {
  const inner = (token: Token): Token[] => {
    const { tokens = [], items = [] } = token as { readonly tokens?: Token[]; readonly items?: Token[] };
    return [token, ...[...tokens, ...items].flatMap(inner)];
  };
  return marked.lexer(markdown).flatMap(inner);
}

/** The text without markup. */
function plainText(markdown: string): string {
  const leaves = tokensOf(markdown).filter(
    (token) => token.type === 'escape' || (token.type === 'text' && !('tokens' in token && token.tokens)),
  );
  return leaves
    .map((leaf) => (leaf as Tokens.Text).text)
    .join('')
    .replace(/\s+/g, '');
}

function typesIn(markdown: string): Set<string> {
  return new Set(tokensOf(markdown).map(({ type }) => type));
}

function linksIn(markdown: string): Tokens.Link[] {
  return tokensOf(markdown).filter((token): token is Tokens.Link => token.type === 'link');
}

describe('as prose', () => {
  it('a card has its title, text, details, image and links', () => {
    const props = {
      title: 'Climber',
      subtitle: 'For hills',
      text: 'Light.\nStrong.\n\nRed.',
      fields: [{ label: 'Price', value: '1,200 €' }],
      image: { url: 'https://shop.example/c.png', alt: 'A red bicycle' },
      links: [
        { label: 'Buy', url: 'https://shop.example/buy' },
        { label: 'More', url: 'https://shop.example/more' },
      ],
    };
    expect(fallback('card', props)).toBe(
      [
        '**Climber**',
        'For hills',
        'Light.  \nStrong.\n\nRed.',
        '- **Price**: 1,200 €',
        '![A red bicycle](https://shop.example/c.png)',
        '- [Buy](https://shop.example/buy)\n- [More](https://shop.example/more)',
      ].join('\n\n'),
    );
    expect(fallback('card', { title: 'Climber' })).toBe('**Climber**');
  });

  it('a list has its entries, with their content below each', () => {
    const items = [
      { title: 'Climber', text: 'Light.\n\nRed.', links: [{ label: 'Buy', url: 'https://shop.example/' }] },
      { title: 'City' },
    ];
    expect(fallback('list', { title: 'Bicycles', items })).toBe(
      '**Bicycles**\n\n- **Climber**\n\n  Light.\n\n  Red.\n\n  - [Buy](https://shop.example/)\n- **City**',
    );
  });

  it('a select has its options with their descriptions', () => {
    const options = [{ label: 'Climber', description: 'For hills' }, { label: 'City' }];
    expect(fallback('select', { question: 'Which?', options })).toBe('Which?\n\n- **Climber**: For hills\n- City');
  });
});

const HOSTILE = fc
  .string({ unit: fc.constantFrom(...Array.from('\\`*_[]()<>~|#-+=1.)!&;:/"\' \nabZ')), minLength: 1, maxLength: 40 })
  .filter((text) => text.trim() !== '');
const WITHOUT_MARKUP = [
  'code',
  'codespan',
  'em',
  'del',
  'heading',
  'html',
  'hr',
  'blockquote',
  'table',
  'image',
  'link',
];

/** Brackets in a URL may be percent-encoded. */
function decoded(url = ''): string {
  return url.replaceAll('&amp;', '&').replace(/%(28|29|5C|60)/g, (code) => decodeURIComponent(code));
}

describe('texts of components are not markup:', () => {
  it('they read as they were written', () => {
    fc.assert(
      fc.property(HOSTILE, HOSTILE, HOSTILE, (question, a, b) => {
        const prose = fallback('select', {
          question,
          options: [{ label: `${a}1`, description: b }, { label: `${b}2` }],
        });
        expect(plainText(prose)).toBe(`${question}${a}1:${b}${b}2`.replace(/\s+/g, ''));
        for (const type of WITHOUT_MARKUP) expect(typesIn(prose)).not.toContain(type);
      }),
      { numRuns: 500, seed: 381 },
    );
  });

  it('links have the target and the text of the props', () => {
    fc.assert(
      fc.property(HOSTILE, HOSTILE, (label, path) => {
        const { href } = new URL(`https://shop.example/${path}?${path}#${path}`);
        const [link, ...others] = linksIn(fallback('card', { title: 'T', links: [{ label, url: href }] }));
        expect(others).toEqual([]);
        expect(decoded(link?.href)).toBe(decoded(href));
        expect(plainText(fallback('card', { title: 'T', links: [{ label, url: href }] }))).toBe(
          `T${label.replace(/\s+/g, '')}`,
        );
      }),
      { numRuns: 500, seed: 381 },
    );
  });
});
