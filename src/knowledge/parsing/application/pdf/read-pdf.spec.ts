import { describe, expect, it } from '@jest/globals';
import { read } from '../../../../../test/support/documents.js';
import { type PdfFont, type PdfLine, pdfOf } from '../../../../../test/support/pdf-writer.js';

const WORDS = 'the harbour opens early and the ferry sails on';
/** A paragraph with its number in the text, in lines of the usual distance. */
const paragraph = (name: string, y: number, { lines = 3, x = 50, end = '.' } = {}): readonly PdfLine[] =>
  Array.from({ length: lines }, (_, at) => ({
    text: `${name}${at} ${WORDS}${at === lines - 1 ? end : ''}`,
    x,
    y: y - at * 12,
  }));
const row = (y: number, ...cells: readonly string[]): readonly PdfLine[] =>
  cells.map((text, at) => ({ text, y, x: 50 + at * 150 }));
const linesOf = async (...pages: readonly (readonly PdfLine[])[]): Promise<readonly string[]> => {
  const { blocks } = await read(pdfOf(pages), { name: 'x.pdf' });
  return blocks.flatMap((block) =>
    block.kind === 'table' ? block.rows.map((cells) => cells.join(' | ')) : block.text.split('\n'),
  );
};

describe('in a PDF', () => {
  it('running headers and footers are left out, also those with the chapter and a number', async () => {
    const pages = ['Fares', 'Fares', 'Times', 'Rules', 'Rules'].map((chapter, at) => [
      { text: 'Draft 3', y: 768 },
      ...paragraph(`p${at}`, 700),
      { text: `${chapter} ${at + 8}`, y: 20 },
    ]);
    const text = (await linesOf(...pages)).join('\n');
    expect(text).not.toMatch(/Draft|Fares|Times|Rules/);
    for (const at of pages.keys()) expect(text).toContain(`p${at}0 `);
  });

  it('a larger sign does not make its line a heading', async () => {
    const sign = (x: number): PdfLine => ({ text: '^', size: 18, x, y: 600 });
    const { blocks } = await read(
      pdfOf([[...paragraph('p', 700), sign(50), { text: 'quick', x: 59, y: 600 }, sign(88), ...paragraph('q', 500)]]),
      { name: 'x.pdf' },
    );
    expect(blocks.map(({ kind }) => kind)).not.toContain('heading');
    expect(JSON.stringify(blocks)).toMatch(/\^ ?quick ?\^/);
  });

  it('repeated headings and repeated lines within the text are kept', async () => {
    const pages = [1, 2, 3, 4, 5, 6, 7].map((at) => [
      ...(at < 4 ? [{ text: 'Example', size: 20, y: 750 }] : []),
      { text: 'Name and price', y: 700 },
      ...paragraph(`p${at}`, 688),
    ]);
    const lines = await linesOf(...pages);
    expect(lines.filter((line) => line === 'Example')).toHaveLength(3);
    expect(lines.join(' ').match(/Name and price/g)).toHaveLength(7);
  });

  it.each<readonly [what: string, end: string, start: string, joined: string]>([
    ['a sentence continues after a page break', ' with', 'ninety cars', 'with ninety cars'],
    ['a word that a page break divides is joined', ' in Nor-', 'way alone', 'in Norway alone'],
  ])('%s', async (_, end, start, joined) => {
    const lines = await linesOf(paragraph('a', 100, { end }), [
      { text: start, y: 700 },
      { text: 'and more.', y: 688 },
    ]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(joined);
  });

  it('a paragraph that ends with its page does not continue on the next', async () => {
    expect(await linesOf(paragraph('a', 100), paragraph('b', 700))).toHaveLength(2);
  });

  it('tables of contents with and without leaders are left out', async () => {
    const titles = ['Fares of the ferry', 'Times of the ferry', 'Rules on board', 'Lost luggage'];
    const contents = titles.map((title, at) => ({
      text: at % 2 === 0 ? `${title} . . . . . . . . ${at + 3}` : `${title} ${at + 3}`,
      y: 700 - at * 14,
    }));
    const lines = await linesOf(
      contents,
      ...titles.map((title, at) => [{ text: title, size: 16, y: 750 }, ...paragraph(`p${at}`, 700)]),
    );
    for (const title of titles) expect(lines.filter((line) => line.startsWith(title))).toEqual([title]);
  });

  it('a definition beside its term continues below it, and a hyphenated word is joined', async () => {
    const beside = (y: number, text: string): PdfLine => ({ text, x: 120, y });
    const term = (y: number, name: string, text: string): readonly PdfLine[] => [
      { text: name, x: 50, y },
      beside(y, text),
    ];
    const page = [
      ...term(700, '-c', 'Commands are read from the first ar-'),
      beside(688, 'gument, and the others are assigned to'),
      beside(676, 'the positional parameters.'),
      ...term(658, '-i', 'The shell is interactive.'),
      ...term(640, '-s', 'Commands are read from the standard'),
      beside(628, 'input.'),
      beside(616, 'It is the default.'),
      ...term(598, '-x', 'Commands are traced.'),
    ];
    const { blocks } = await read(pdfOf([page]), { name: 'x.pdf' });
    expect(blocks.map(({ term, ...block }) => [term, block.kind === 'text' ? block.text : null])).toEqual([
      ['-c', 'Commands are read from the first argument, and the others are assigned to the positional parameters.'],
      ['-i', 'The shell is interactive.'],
      ['-s', 'Commands are read from the standard input. It is the default.'],
      ['-x', 'Commands are traced.'],
    ]);
  });

  it('tables have rows, joined cells, and one header even if the next page repeats it', async () => {
    const head = ['Route', 'Fare', 'Duration'];
    const first = [
      ...paragraph('a', 760),
      ...row(700, ...head),
      ...row(680, 'Oslo', '10 EUR', 'two hours'),
      { text: 'and a half', x: 350, y: 668 },
      ...row(650, 'Bergen', '20 EUR', 'a day'),
    ];
    const lines = await linesOf(first, [
      ...row(760, ...head),
      ...row(740, 'Kiel', '30 EUR', 'a night'),
      ...row(720, 'Riga', '40 EUR', 'a week'),
      ...paragraph('z', 600),
    ]);
    expect(lines.slice(1, -1)).toEqual([
      'Route | Fare | Duration',
      'Oslo | 10 EUR | two hours and a half',
      'Bergen | 20 EUR | a day',
      'Kiel | 30 EUR | a night',
      'Riga | 40 EUR | a week',
    ]);
  });

  it('columns are read one after the other, between the lines that span both', async () => {
    const columns = Array.from({ length: 12 }, (_, at) => [
      { text: `l${at} ${WORDS.slice(0, 40)}`, x: 50, y: 700 - at * 12 },
      { text: `r${at} ${WORDS.slice(0, 40)}`, x: 320, y: 700 - at * 12 },
    ]).flat();
    const text = (await linesOf([{ text: `Abstract ${WORDS} ${WORDS}.`, y: 740 }, ...columns])).join(' ');
    const order = [...text.matchAll(/\b([lr]\d+) |Abstract/g)].map(([, name = 'Abstract']) => name);
    const side = (name: string): readonly string[] => Array.from({ length: 12 }, (_, at) => `${name}${at}`);
    expect(order).toEqual(['Abstract', ...side('l'), ...side('r')]);
  });

  const PROGRAM = [
    '/** What one pays. */',
    'function fare(age) {',
    '  const isChild = age < 6;',
    '  if (isChild) return 0;',
    '  // All others.',
    '  return age > 66    ? 5 : 10;',
    '}',
  ];
  const set = (font: PdfFont, lines: readonly string[], y: number, x = 80): readonly PdfLine[] =>
    lines.map((text, at) => ({
      text: text.trimStart(),
      x: x + 6 * (text.length - text.trimStart().length),
      y: y - at * 12,
      font,
    }));

  it.each<PdfFont>(['code', 'ownCode'])(
    'lines in a fixed-width font stay lines, with their indents and empty lines (%s)',
    async (font) => {
      const page = [
        ...paragraph('a', 700),
        ...set(font, PROGRAM, 650),
        ...set(font, ['const price = fare(30);'], 554),
        ...paragraph('b', 520),
      ];
      const { blocks } = await read(pdfOf([page]), { name: 'x.pdf' });
      expect(blocks).toMatchObject([
        { kind: 'text' },
        { kind: 'code', text: [...PROGRAM, '', 'const price = fare(30);'].join('\n'), page: 1 },
        { kind: 'text' },
      ]);
    },
  );

  it('a document of only lines in a fixed-width font keeps them', async () => {
    const { blocks } = await read(pdfOf([set('code', PROGRAM, 700)]), { name: 'x.pdf' });
    expect(blocks).toEqual([{ kind: 'code', text: PROGRAM.join('\n'), page: 1 }]);
  });

  it('a name in a fixed-width font is part of its paragraph, even if it fills a line', async () => {
    const [first = '', , last = ''] = paragraph('a', 700).map(({ text }) => text);
    const name: PdfLine = { text: '/usr/share/doc/the-harbour/fares-of-the-ferry', y: 688, font: 'code' };
    expect(await linesOf([{ text: first, y: 700 }, name, { text: last, y: 676 }])).toEqual([
      `${first} ${name.text} ${last}`,
    ]);
  });

  it('typewritten paragraphs are joined', async () => {
    const pages = [
      ['a', 700],
      ['b', 600],
      ['c', 500],
    ] as const;
    const lines = pages
      .flatMap(([name, y]) => paragraph(name, y, { lines: 6 }))
      .map((line): PdfLine => ({ ...line, font: 'code' }));
    expect(await linesOf(lines)).toHaveLength(3);
  });

  it.each(['(anonymous)', 'untitled', 'Microsoft Word - x.doc', 'report.docx', '(unspecified)'])(
    '%j is no title',
    async (title) => {
      expect((await read(pdfOf([paragraph('a', 700)], { title }), { name: 'x.pdf' })).title).toBeNull();
    },
  );

  it('a title that only starts like a default title is kept', async () => {
    expect(
      (await read(pdfOf([paragraph('a', 700)], { title: 'Untitled works of the harbour' }), { name: 'x.pdf' })).title,
    ).toBe('Untitled works of the harbour');
  });
});
