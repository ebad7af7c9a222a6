import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { computingMs } from '../../../test/support/computing-time.js';
import { MAX_PARAGRAPH, MarkdownSplitter } from './markdown-blocks.js';
import { shortBlock, shortBlocks } from './markdown-tree.support.js';

const shown = (text: string): string => shortBlocks(text).join('\n');

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
    ['| A | B |\n|---|:-:|\n| 1 | a \\| b |\n| 2 |', 'table(,center)[A,B | 1,a | b | 2,]'],
    ['a | b\nno table', 'a | b⏎no table'],
    ['---\n***', 'rule\nrule'],
    ['<script>alert(1)</script> <b onclick=x>', '<script>alert(1)</script> <b onclick=x>'],
    ['\\*not\\* \\[a\\](b)', '*not* [a](b)'],
    ['**open and [open](', '**open and [open]('],
    ['[a [b](https://b.example) c](https://c.example)', '<link https://c.example a b c>'],
    ['[https://a.example](https://b.example)', '<link https://b.example https://a.example>'],
    [
      '[a](<https://a.example/b c>) and [b]( https://b.example )',
      '<link https://a.example/b c a> and <link https://b.example b>',
    ],
    ['[a](https://a.example/x\\_y)', '<link https://a.example/x_y a>'],
    ['Title\n===\nOther\n---\nText', 'h1 Title\nh2 Other\nText'],
    ['text\n\n    a <b>\n\n    c\nend', 'text\ncode() a <b>\n\nc\nend'],
    ['1. a\n   ```sh\n   x  y\n\n     z\n   ```\n2. b', 'list(1)[a; code(sh) x  y\n\n  z | b]'],
    ['- a\n    - b\n        1. c\n        2. d\n- e', 'list(-)[a; list(-)[b; list(1)[c | d]] | e]'],
    ['1. a\n\t- b\n\t\t- c\n2. d', 'list(1)[a; list(-)[b; list(-)[c]] | d]'],
    ['10. a\n   - b\n11. c', 'list(10)[a; list(-)[b] | c]'],
    ['1. a\n  - b\n2. c', 'list(1)[a; list(-)[b] | c]'],
    ['- a\n\n  more\n\n- b', 'loose(-)[a; more | b]'],
    ['- a\n  - b\n\n  - c\n- d', 'list(-)[a; loose(-)[b | c] | d]'],
    ['- a\n* b\n\n1) c\n1. d', 'list(-)[a]\nlist(-)[b]\nlist(1)[c]\nlist(1)[d]'],
    ['It was in\n1986. We know.', 'It was in⏎1986. We know.'],
    ['- [ ] open\n- [x] **done**\n- [y] text', 'list(-)[☐ open | ☑ <strong done> | [y] text]'],
    [
      '| L | C | R | N |\n|:--|:-:|--:|---|\n| 1<br>2 | x | y | `a\\|b` |',
      'table(start,center,end,)[L,C,R,N | 1⏎2,x,y,<code a|b>]',
    ],
    ['a | b\n--- | --- | ---\nno', 'a | b⏎--- | --- | ---⏎no'],
    [
      'See[^1] and[^a b].\n\n[^1]: The *note*\n  goes on.\n\n        code\n[^2]: Other',
      'See<note 1> and[^a b].\nnote(1)[The <emphasis note>⏎goes on.; code() code]\nnote(2)[Other]',
    ],
    ['a &lt;b&gt; &#8364; &#x20AC; &copy; &#0;', 'a <b> € € &copy; \ufffd'],
    ['> a\nlazy\n\nb', 'quote[a⏎lazy]\nb'],
    ['> ```\n> a\nb', 'quote[code() a]\nb'],
  ])('%j', (text, tree) => {
    expect(shown(text)).toBe(tree);
  });

  it.each([
    ['It costs $5 and $10, or US$5-$7.', 'It costs $5 and $10, or US$5-$7.'],
    ['$HOME/$USER and $ x $ and \\$5$', '$HOME/$USER and $ x $ and $5$'],
    ['so $a_1 + b$, $$x$$ and \\(y\\) hold', 'so <formula a_1 + b>, <formula x> and <formula y> hold'],
    ['`$a$` and $a`$b`', '<code $a$> and $a<code $b>'],
    ['$$\n- a\n# b\n$$', 'formula(- a\n# b) '],
    ['Text\n\\[ x = 1 \\]\nmore', 'Text\nformula(x = 1) \nmore'],
    ['\\[note\\] is text, \\[[a](https://a.example)\\] too', '[note] is text, [<link https://a.example a>] too'],
    ['$$ not closed\n\nmore', 'formula() $$ not closed\nmore'],
  ])('finds formulas in %j', (text, tree) => {
    expect(shown(text)).toBe(tree);
  });

  it('reads a text that grows as it reads it at once, and keeps what is finished', () => {
    const pieces = [
      'a',
      ' ',
      '\n',
      '\n\n',
      '    ',
      '- ',
      '1. ',
      '> ',
      '```\n',
      '|',
      '|-|\n',
      '# ',
      '---\n',
      '$$',
      '[^1]: ',
      '\r\n',
      '===',
    ];
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 });
    fc.assert(
      fc.property(texts, (parts) => {
        const splitter = new MarkdownSplitter();
        let text = '';
        for (const part of parts) {
          text += part;
          expect(splitter.split(text).map(shortBlock)).toEqual(shortBlocks(text));
        }
      }),
      { numRuns: 500 },
    );
    const splitter = new MarkdownSplitter();
    const [first] = splitter.split('# One\n\ntwo\nthree\n');
    expect(splitter.split('# One\n\ntwo\nthree\nfour')[0]).toBe(first);
    expect(splitter.split('# Other\n\ntwo').map(shortBlock)).toEqual(['h1 Other', 'two']);
  });

  it('cuts a paragraph of any length into parts that stay as they are while it grows', () => {
    const splitter = new MarkdownSplitter();
    const text = 'word '.repeat(30_000);
    const before = splitter.split(text.slice(0, 100_000)).map(({ lines }) => lines.join('\n'));
    const after = splitter.split(text).map(({ lines }) => lines.join('\n'));
    expect(Math.max(...after.map(({ length }) => length))).toBeLessThanOrEqual(MAX_PARAGRAPH + 1);
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(after.join('')).toBe(text.trimEnd() + ' ');
  });

  it('cuts a long table into several with the same head', () => {
    const table = `| A |\n|---|\n${'| 1 |\n'.repeat(1_200)}`;
    expect(shortBlocks(table).map((block) => [block.slice(0, 10), block.split(' | ').length - 1])).toEqual([
      ['table()[A ', 500],
      ['table()[A ', 500],
      ['table()[A ', 200],
    ]);
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
    '- [ ] a\n',
    '- a\n\n',
    '    a\n\nb\n',
    '[^1]',
    '[^1]: a\n',
    '$',
    '$a ',
    '$a$',
    '$$\n',
    '$$ a\n\n',
    '\\(',
    '\\[a\n',
    '[](<',
    '[a](b (',
    '[https://a]',
    'a\n==\n',
    '<br>',
    '&lt',
  ])('of many %j takes linear time', (piece) => {
    const of = (length: number): string => piece.repeat(Math.ceil(length / piece.length));
    shortBlocks(of(20_000));
    const [small, large] = [computingMs(() => shortBlocks(of(25_000))), computingMs(() => shortBlocks(of(200_000)))];
    // Eight times the text would take sixty-four times as long in quadratic time.
    expect(large).toBeLessThan(Math.max(small, 2) * 24);
  });
});
