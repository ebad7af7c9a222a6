import { describe, expect, it } from '@jest/globals';
import { computingMs } from '../../../test/support/computing-time.js';
import type { Inline } from './markdown-inline.js';
import { type Block, parseMarkdown } from './markdown-parse.js';

/** The tree in a short form for comparison. */
function inline(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      switch (node.type) {
        case 'text':
          return node.text;
        case 'code':
          return `<code ${node.text}>`;
        case 'break':
          return '⏎';
        case 'image':
          return `<image ${node.src} ${node.alt}>`;
        case 'link':
          return `<link ${node.href} ${inline(node.children)}>`;
        case 'strong':
        case 'emphasis':
        case 'deleted':
          return `<${node.type} ${inline(node.children)}>`;
        default:
          return node satisfies never;
      }
    })
    .join('');
}

function short(block: Block): string {
  switch (block.type) {
    case 'paragraph':
      return inline(block.children);
    case 'heading':
      return `h${block.level} ${inline(block.children)}`;
    case 'code':
      return `code(${block.language}) ${block.text}`;
    case 'quote':
      return `quote[${block.blocks.map(short).join('; ')}]`;
    case 'list':
      return `list(${block.start ?? '-'})[${block.items.map((item) => item.map(short).join('; ')).join(' | ')}]`;
    case 'table':
      return `table[${[block.head, ...block.rows].map((row) => row.map(inline).join(',')).join(' | ')}]`;
    case 'rule':
      return 'rule';
    default:
      return block satisfies never;
  }
}

const shown = (text: string): string => parseMarkdown(text).map(short).join('\n');

describe('Markdown', () => {
  it.each([
    ['a\nb\n\nc', 'a⏎b\nc'],
    ['# One\n### Three ###', 'h1 One\nh3 Three'],
    [
      '**bold** and *em* and ***both*** and ~~gone~~',
      '<strong bold> and <emphasis em> and <strong <emphasis both>> and <deleted gone>',
    ],
    ['snake_case_name and _em_ and 2 * 3 * 4', 'snake_case_name and <emphasis em> and 2 * 3 * 4'],
    ['`a < b` and ``x ` y``', '<code a < b> and <code x ` y>'],
    [
      '[text](https://a.example/x_(y) "Title") and ![alt](https://a.example/i.png)',
      '<link https://a.example/x_(y) text> and <image https://a.example/i.png alt>',
    ],
    [
      'See https://a.example/b?c=d_e_f. Or <https://a.example/>',
      'See <link https://a.example/b?c=d_e_f https://a.example/b?c=d_e_f>. Or <link https://a.example/ https://a.example/>',
    ],
    ['(https://a.example/wiki/X_(y))', '(<link https://a.example/wiki/X_(y) https://a.example/wiki/X_(y)>)'],
    ['- one\n- two\n  - deep\n  more\n- three', 'list(-)[one | two; list(-)[deep⏎more] | three]'],
    ['3. three\n4. four', 'list(3)[three | four]'],
    ['1. a\n   - b\n   - c\n2. d', 'list(1)[a; list(-)[b | c] | d]'],
    ['> quoted\n> > deeper', 'quote[quoted; quote[deeper]]'],
    ['```js\nconst a = `b`;\n```\nafter', 'code(js) const a = `b`;\nafter'],
    ['~~~\nnot closed', 'code() not closed'],
    ['| A | B |\n|---|:-:|\n| 1 | a \\| b |\n| 2 |', 'table[A,B | 1,a | b | 2,]'],
    ['a | b\nno table', 'a | b⏎no table'],
    ['---\n***', 'rule\nrule'],
    ['<script>alert(1)</script> <b onclick=x>', '<script>alert(1)</script> <b onclick=x>'],
    ['\\*not\\* \\[a\\](b)', '*not* [a](b)'],
    ['**open and [open](', '**open and [open]('],
    ['[a [b](https://b.example) c](https://c.example)', '<link https://c.example a b c>'],
  ])('%j', (text, tree) => {
    expect(shown(text)).toBe(tree);
  });

  it.each([
    '[',
    ']',
    '![',
    '](',
    '[a](',
    '*a ',
    '**',
    '***a',
    '_a_',
    '`',
    '``a',
    '> ',
    '- ',
    '  - a\n',
    '1. ',
    '|',
    '|-',
    '| - |\n',
    '#',
    '~',
    '~~a',
    '<',
    '<a',
    'https://',
    'http://a ',
    '\\',
    '&',
    ' ',
    '\t',
    '\n\n',
    '```',
    '````a`',
    '-a|-\n',
  ])('of many %j takes linear time', (piece) => {
    const of = (length: number): string => piece.repeat(Math.ceil(length / piece.length));
    parseMarkdown(of(20_000));
    const [small, large] = [
      computingMs(() => parseMarkdown(of(25_000))),
      computingMs(() => parseMarkdown(of(200_000))),
    ];
    // Eight times the text would take sixty-four times as long in quadratic time.
    expect(large).toBeLessThan(Math.max(small, 2) * 24);
  });
});
