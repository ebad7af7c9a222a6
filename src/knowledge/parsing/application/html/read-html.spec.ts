import { describe, expect, it } from '@jest/globals';
import { computingUnits } from '../../../../../test/support/computing-time.js';
import type { Block } from '../../domain/parsed-document.js';
import { readHtmlText } from './read-html.js';

const URL_OF_PAGE = 'https://example.org/shop/page.html';
const SENTENCE =
  'Returns are accepted within thirty days, as long as the goods are unused, complete and in their box, and a refund follows.';
const page = (html: string): ReturnType<typeof readHtmlText> => readHtmlText(html, URL_OF_PAGE);
const textsOf = (blocks: readonly Block[]): string => JSON.stringify(blocks);

describe('the content of a page', () => {
  it('is its article in blocks, without the boilerplate around it', () => {
    const { title, language, blocks } =
      page(`<!doctype html><html lang="de-AT"><head><title>Returns &amp; refunds</title></head><body>
      <nav><a href="/a">Menu entry</a></nav><div hidden>hidden one</div><p style="display: none">hidden two</p><script>var hidden = 3;</script>
      <main><article><h1>How returns work</h1><p>${SENTENCE}</p><p>${SENTENCE}</p><h2>Fees</h2>
      <ul><li>In the <b>EU</b>: none<ul><li>islands: 5</li></ul></li><li>Elsewhere</li></ul><ol start=3><li>three</li><li>four</li></ol>
      <table><tr><th>Country</th><th>Fee</th></tr><tr><td>Norway</td><td>10</td></tr></table>
      <pre><code>GET /returns
  Accept: text/html</code></pre><p>${SENTENCE}<br>Second line</p></article></main>
      <aside>Advertisement</aside><footer>Imprint</footer></body></html>`);
    expect([title, language]).toEqual(['Returns & refunds', 'de']);
    const shown = textsOf(blocks);
    for (const hidden of ['Menu', 'hidden', 'Advertisement', 'Imprint']) expect(shown).not.toContain(hidden);
    expect(blocks).toContainEqual({ kind: 'heading', level: 2, text: 'Fees' });
    expect(blocks).toContainEqual({ kind: 'text', text: '- In the EU: none\n  - islands: 5\n- Elsewhere' });
    expect(blocks).toContainEqual({ kind: 'text', text: '3. three\n4. four' });
    expect(blocks).toContainEqual({
      kind: 'table',
      rows: [
        ['Country', 'Fee'],
        ['Norway', '10'],
      ],
    });
    expect(blocks).toContainEqual({ kind: 'code', text: 'GET /returns\n  Accept: text/html' });
    expect(blocks).toContainEqual({ kind: 'text', text: `${SENTENCE}\nSecond line` });
  });

  it('is the whole page without an article, and the navigation of a page of nothing else', () => {
    const cards = Array.from(
      { length: 12 },
      (_, index) => `<div class="card"><h3>Article ${index}</h3><p>Only ${index}.50</p></div>`,
    ).join('');
    const { blocks } = page(`<body><nav>Menu</nav>${cards}</body>`);
    for (let index = 0; index < 12; index += 1) expect(textsOf(blocks)).toContain(`Only ${index}.50`);
    expect(textsOf(blocks)).not.toContain('Menu');
    expect(page('<nav><a href="/a">Menu</a></nav>').blocks).toEqual([{ kind: 'text', text: 'Menu' }]);
    expect(page('<html><body></body></html>').blocks).toEqual([]);
  });

  it('is read from layout tables in reading order', () => {
    const { blocks } = page(
      '<table><tr><td><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table></td><td><h2>Title</h2>Text</td></tr></table>',
    );
    expect(blocks).toEqual([
      {
        kind: 'table',
        rows: [
          ['a', 'b'],
          ['1', '2'],
        ],
      },
      { kind: 'heading', level: 2, text: 'Title' },
      { kind: 'text', text: 'Text' },
    ]);
  });

  it.each([
    ['og:title', '<meta property="og:title" content="From the graph"><title>T</title><h1>H</h1>', 'From the graph'],
    ['the title', '<title> T\n t </title><h1>H</h1>', 'T t'],
    ['the first heading', '<svg><title>icon</title></svg><h1>H <i>i</i></h1>', 'H i'],
  ])('has the title of %s', (_, html, title) => expect(page(html).title).toBe(title));
});

const shownText = (html: string): string =>
  page(html)
    .blocks.map((block) => (block.kind === 'table' ? block.rows.map((row) => row.join(' | ')).join('\n') : block.text))
    .join('\n');
const LONG = `<p>${SENTENCE}</p>`;

describe('the content of a page keeps', () => {
  it.each([
    ['a card with a price', `<main>${LONG}<div class="card"><h3>Basic</h3><p>€ 9</p></div></main>`, ['Basic', '€ 9']],
    [
      'a sidebar and an aside within the content',
      `<main>${LONG}<div class="sidebar">Half price</div><aside>With VAT</aside></main>`,
      ['Half price', 'With VAT'],
    ],
    [
      'a table of links',
      '<main><table><tr><td><a href="/1">Terms</a></td><td><a href="/2">Privacy</a></td></tr></table></main>',
      ['Terms | Privacy'],
    ],
    [
      'the panel of an accordion',
      '<main><h3><button aria-expanded="false">Can I cancel?</button></h3><div hidden><p>At any time.</p></div></main>',
      ['Can I cancel?', 'At any time.'],
    ],
    [
      'a panel that a control names',
      '<main><div id="more" style="display:none">The rest</div><a href="#more">Show</a></main>',
      ['The rest'],
    ],
    [
      'a closed dialog of help',
      '<main><dialog><h2>Delivery</h2><p>Three days.</p><button>Close</button></dialog></main>',
      ['Delivery', 'Three days.'],
    ],
    [
      'each of several articles',
      '<body><article>One story</article><article>Two stories</article><p>Call us.</p></body>',
      ['One story', 'Two stories', 'Call us.'],
    ],
    [
      'sections beside a main element that is only a teaser',
      `<body><main>Hello</main><section>${LONG}</section></body>`,
      ['Returns are accepted'],
    ],
    [
      'the header of the page if it contains the title',
      '<body><header><h1>The shop</h1><p>Open daily.</p></header><p>Text</p></body>',
      ['The shop', 'Open daily.'],
    ],
    ['the footer of an article', '<body><article>One story<footer>By Ann</footer></article></body>', ['By Ann']],
    [
      'text of a table beside its rows',
      '<main><table>Stray<tr><td>a</td><td>b</td></tr></table></main>',
      ['Stray', 'a'],
    ],
    [
      'a section about cookies',
      '<main><section id="cookies"><h2>Cookies</h2><p>Sessions use one.</p></section></main>',
      ['Sessions use one.'],
    ],
    ['the name of a button in a sentence', '<main><p>Press <button>Save</button> now.</p></main>', ['Press Save now.']],
    [
      'the alternative text of an image that is a whole link',
      '<main><a href="/x"><img alt="The shop"></a></main>',
      ['The shop'],
    ],
  ])('%s', (_, html, kept) => {
    for (const text of kept) expect(shownText(html)).toContain(text);
  });
});

describe('the content of a page leaves out', () => {
  it.each([
    [
      'a menu that a button opens',
      '<button aria-controls="m">Menu</button><div id="m" aria-hidden="true" class="menu"><a href="/a">GONE</a></div>',
    ],
    ['hidden text without a control that shows it', '<div hidden>GONE</div>'],
    ['a template, and the replacement for scripts', '<template>GONE</template><noscript>GONE</noscript>'],
    ['a consent banner', '<div class="cookie-banner"><p>We use cookies. GONE</p><button>Accept</button></div>'],
    ['a dialog that asks for consent', '<dialog open>We use cookies. GONE <button>Accept</button></dialog>'],
    [
      'a bar of links to the previous and the next page',
      '<p><a rel="prev" href="/a">GONE</a> <a rel="next" href="/b">GONE</a></p>',
    ],
    ['a line that is only a link to the next page', '<p><a href="/b">Next: GONE</a></p>'],
    ['a navigation bar of DocBook', '<div class="navheader"><table><tr><th>GONE</th></tr></table></div>'],
    ['a skip link', '<a href="#content">Skip to content</a>'],
    ['a permalink sign', '<h2>Fees<a href="#fees">¶</a></h2>'],
    ['help about keyboard shortcuts', '<div id="help-popup"><p>GONE <kbd>?</kbd></p></div>'],
    ['the header and the footer of the page', '<header>GONE</header><div id="footer">GONE</div>'],
  ])('%s', (_, html) => {
    expect(shownText(`<body>${html}${LONG}</body>`)).not.toMatch(/GONE|Skip|¶|Accept/);
  });
});

describe('a block', () => {
  it('has its term and the nearest anchor', () => {
    const { blocks } = page(
      '<main><h2 id="options">Options</h2><dl><dt id="a">-a<dt>--all<dd><p>All.</p><pre>x -a</pre></dl><details><summary>More</summary>Less.</details><a name="z"></a><p>End.</p></main>',
    );
    expect(blocks).toEqual([
      { kind: 'heading', level: 2, text: 'Options', anchor: 'options' },
      { kind: 'text', text: 'All.', anchor: 'a', term: '-a, --all' },
      { kind: 'code', text: 'x -a', anchor: 'a', term: '-a, --all' },
      { kind: 'text', text: 'Less.', anchor: 'a', term: 'More' },
      { kind: 'text', text: 'End.', anchor: 'z' },
    ]);
  });

  it('of a tab panel has the name of its tab as term', () => {
    const { blocks } = page(
      '<main><div role="tablist"><button role="tab" aria-controls="w">Windows</button></div><div role="tabpanel" id="w" hidden>Run it.</div></main>',
    );
    expect(blocks).toEqual([{ kind: 'text', text: 'Run it.', term: 'Windows' }]);
  });

  it('after a note is not under the heading within the note', () => {
    const { blocks } = page(
      '<main><h2>Backup</h2><div class="warning"><h3>Warning</h3><p>Slow.</p></div><p>Then.</p></main>',
    );
    expect(blocks.map(({ kind }) => kind)).toEqual(['heading', 'text', 'text', 'text']);
  });

  it.each([
    [
      'code with an element for each line',
      '<pre><div>one</div><div>two</div></pre>',
      { kind: 'code', text: 'one\ntwo' },
    ],
    [
      'a formula',
      '<p>A = <math><mi>π</mi><msup><mi>r</mi><mn>2</mn></msup></math></p>',
      { kind: 'text', text: 'A = π r^2' },
    ],
    [
      'a formula with its source',
      '<p><math alttext="E = mc^2"><mi>E</mi></math></p>',
      { kind: 'text', text: 'E = mc^2' },
    ],
    [
      'a call to follow a link, with the address',
      '<p>Find it <a href="/p.pdf">here</a>.</p>',
      { kind: 'text', text: 'Find it here (https://example.org/p.pdf).' },
    ],
    [
      'a link whose text names the target, without the address',
      '<p>See <a href="/p.pdf">the price list</a>.</p>',
      { kind: 'text', text: 'See the price list.' },
    ],
    [
      'a cell that spans two rows, in both rows',
      '<table><tr><td rowspan=2>a<td>1<tr><td>2</table>',
      {
        kind: 'table',
        rows: [
          ['a', '1'],
          ['a', '2'],
        ],
      },
    ],
  ])('holds %s', (_, html, block) => expect(page(`<main>${html}</main>`).blocks).toEqual([block]));
});

describe('the metadata of a page', () => {
  it('has the links that may be followed, absolute, each once', () => {
    const { page: facts } =
      page(`<base href="/docs/"><a href="a?x=1#part">1</a><a href="a?x=1">2</a><area href="../b"><a href="https://other.example/c">3</a>
      <a rel="noopener NoFollow" href="/no">4</a><a href="mailto:x@example.org">5</a><a href="javascript:alert(1)">6</a><a href="#top">7</a><a href="http://[">8</a>
      <nav><a href="/menu">9</a></nav><template><a href="/in-template">10</a></template>`);
    expect(facts?.links.filter((link) => !link.endsWith('in-template'))).toEqual([
      'https://example.org/docs/a?x=1',
      'https://example.org/b',
      'https://other.example/c',
      'https://example.org/menu',
    ]);
  });

  it('has the robots rules, and no links if they must not be followed', () => {
    const robots = (content: string): unknown => {
      const { page: facts } = page(
        `<meta name="Robots" content="${content}"><meta name="googlebot" content="noindex"><a href="/a">a</a>`,
      );
      return [facts?.noindex, facts?.links.length];
    };
    expect([robots('noindex'), robots('NOFOLLOW, noarchive'), robots('none'), robots('all')]).toEqual([
      [true, 1],
      [false, 0],
      [true, 0],
      [false, 1],
    ]);
  });

  it('has the canonical address and the refresh target', () => {
    const { page: facts } = page(
      `<link rel="canonical" href="/the-page#x"><meta http-equiv="Refresh" content="0; URL='next.html'">`,
    );
    expect(facts).toMatchObject({
      canonical: 'https://example.org/the-page',
      refresh: 'https://example.org/shop/next.html',
    });
    expect(page('<meta http-equiv="refresh" content="30">').page?.refresh).toBeNull();
  });

  it('has at most 5,000 links', () => {
    const links = Array.from({ length: 6_000 }, (_, index) => `<a href="/${index}">x</a>`).join('');
    expect(page(links).page?.links).toHaveLength(5_000);
  });
});

describe('a hostile page', () => {
  it.each([
    ['a megabyte of formatting that is never closed', `${'<a><b><i><p>'.repeat(87_000)}deep text`],
    ['a megabyte of one element that is never closed', `${'<b>x'.repeat(250_000)}<p>deep text`],
    ['14,000 elements in deep chains', `${`${'<div>'.repeat(190)}x${'</div>'.repeat(190)}`.repeat(70)}<p>deep text`],
    ['code around a million spaces', `<pre>x${' '.repeat(1_000_000)}x</pre><p>deep text`],
    ['100,000 levels', `${'<div>'.repeat(100_000)}deep text`],
    ['100,000 levels of lists', `${'<ul><li>'.repeat(50_000)}deep text`],
    ['1,000 tables in tables', `${'<table><tr><td>'.repeat(1_000)}deep text`],
    ['10 MB of attributes', `<div ${'a="b" '.repeat(1_600_000)}>deep text</div>`],
    ['a flood of entities', `<p>${'&amp;'.repeat(300_000)}</p><p>deep text</p>`],
    ['unclosed elements', `${'<p><b><i><a href=x>'.repeat(20_000)}deep text`],
    ['closing tags alone', `${'</div></p></table>'.repeat(50_000)}deep text`],
  ])('with %s is read', (_, html) => {
    expect(textsOf(page(html).blocks)).toContain('deep text');
  });

  it('of 50 MB of elements is refused', () => {
    expect(() => page('<b>x'.repeat(13_000_000))).toThrow('more tags and texts');
  });

  it.each([
    ['elements that are never closed', '<a><b><i><p>'.repeat(87_000)],
    ['deep chains of elements', `${'<div>'.repeat(190)}x${'</div>'.repeat(190)}`.repeat(70)],
    ['spaces in code', `<pre>x${' '.repeat(1_000_000)}x</pre>`],
  ])('of only %s takes no quadratic time', (_, html) => {
    expect(computingUnits(() => void page(html))).toBeLessThan(30);
  });

  it('keeps the content of elements that are nested too deep', () => {
    const { blocks, page: facts } = page(
      `${'<div>'.repeat(1_500)}<div>in</div><script>no();</script><a href="/x">x</a>${'</div>'.repeat(1_500)}<h2>After</h2><p>it</p><a href="/after">all</a>`,
    );
    expect(textsOf(blocks)).not.toContain('no()');
    expect(blocks).toContainEqual({ kind: 'heading', level: 2, text: 'After' });
    expect(facts?.links).toEqual(['https://example.org/after']);
  });
});
