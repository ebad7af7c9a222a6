import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { read } from '../../../../../test/support/documents.js';
import { docxOf, pptxOf, wordParagraph, xlsxOf } from '../../../../../test/support/office-files.js';
import { pdfOf } from '../../../../../test/support/pdf-writer.js';
import { withWrongSize, zipOf } from '../../../../../test/support/zip-writer.js';

describe('the reader of', () => {
  it('text returns paragraphs', async () => {
    expect(await read('One\nline\r\n\r\n\r\nTwo\0'.replace('\0', '\x07'), { name: 'notes.txt' })).toEqual({
      format: 'text',
      title: null,
      language: null,
      page: null,
      blocks: [
        { kind: 'text', text: 'One\nline' },
        { kind: 'text', text: 'Two' },
      ],
    });
  });

  it('Markdown returns headings, lists, tables and code', async () => {
    const { title, blocks } = await read(
      `---\ntitle: "The guide"\n---\n# Start *here*\n\nSee [the docs](http://x/) &amp; \`code\`.\n\n- one\n  - two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`sh\nnpm start\n\`\`\`\n\n> quoted\n\n<p>In <b>HTML</b></p>\n`,
      { name: 'guide.md' },
    );
    expect(title).toBe('The guide');
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'Start here' },
      { kind: 'text', text: 'See the docs & code.' },
      { kind: 'text', text: '- one\n  - two' },
      {
        kind: 'table',
        rows: [
          ['a', 'b'],
          ['1', '2'],
        ],
      },
      { kind: 'code', text: 'npm start' },
      { kind: 'text', text: 'quoted' },
      { kind: 'text', text: 'In HTML' },
    ]);
    expect((await read('# Only a heading\ntext', { contentType: 'text/markdown' })).title).toBe('Only a heading');
  });

  it.each([',', ';', '\t', '|'])('CSV separated by %j returns a table', async (separator) => {
    const rows = [
      ['name', 'note'],
      ['Ann', `a "quoted"${separator} note`],
      ['Bob', 'two\nlines'],
    ];
    const csv = rows.map((row) => row.map((cell) => `"${cell.replace(/"/g, '""')}"`).join(separator)).join('\r\n');
    expect((await read(csv, { name: 'people.csv' })).blocks).toEqual([{ kind: 'table', rows }]);
  });

  it('JSON returns values with their paths', async () => {
    const { title, blocks } = await read(
      JSON.stringify({
        name: 'Shop',
        open: true,
        fees: [{ to: 'NO', fee: 10 }, { to: 'CH' }],
        more: { a: [1, { b: null }] },
      }),
      { name: 'x.json' },
    );
    expect(title).toBe('Shop');
    expect(blocks).toEqual([
      { kind: 'text', text: 'name: Shop\nopen: true' },
      { kind: 'heading', level: 2, text: 'fees' },
      { kind: 'text', text: 'fees:' },
      {
        kind: 'table',
        rows: [
          ['to', 'fee'],
          ['NO', '10'],
          ['CH', ''],
        ],
      },
      { kind: 'heading', level: 2, text: 'more' },
      { kind: 'text', text: 'more.a[0]: 1\nmore.a[1].b:' },
    ]);
    expect((await read('{"a":1}\n{"a":2}\n', { name: 'x.jsonl' })).blocks).toEqual([{ kind: 'text', text: 'a\n1\n2' }]);
  });

  it('Word documents returns headings, lists, tables and notes', async () => {
    const table = `<w:tbl>${[
      ['Country', 'Fee'],
      ['Norway', '10'],
    ]
      .map((row) => `<w:tr>${row.map((cell) => `<w:tc>${wordParagraph(cell)}</w:tc>`).join('')}</w:tr>`)
      .join('')}</w:tbl>`;
    const body = [
      wordParagraph('Returns', '<w:pStyle w:val="berschrift1"/>'),
      wordParagraph('In an own style', '<w:pStyle w:val="Own"/>'),
      '<w:p><w:r><w:t xml:space="preserve">Thirty </w:t></w:r><w:del><w:r><w:delText>forty</w:delText></w:r></w:del><w:r><w:t>days</w:t><w:br/><w:t>&amp; more</w:t></w:r></w:p>',
      wordParagraph('first', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'),
      wordParagraph('second', '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>'),
      table,
    ];
    const footnotes = {
      name: 'word/footnotes.xml',
      content: `<w:footnotes><w:footnote>${wordParagraph('A note.')}</w:footnote></w:footnotes>`,
    };
    const parsed = await read(docxOf(body.join(''), { title: 'All about returns', more: [footnotes] }), {
      name: 'a.docx',
    });
    expect(parsed).toEqual({
      format: 'docx',
      title: 'All about returns',
      language: 'de',
      page: null,
      blocks: [
        { kind: 'heading', level: 1, text: 'Returns' },
        { kind: 'heading', level: 1, text: 'In an own style' },
        { kind: 'text', text: 'Thirty days\n& more' },
        { kind: 'text', text: '- first\n  - second' },
        {
          kind: 'table',
          rows: [
            ['Country', 'Fee'],
            ['Norway', '10'],
          ],
        },
        { kind: 'text', text: 'A note.' },
      ],
    });
  });

  it('presentations returns slides in their order, with their notes', async () => {
    const { title, blocks } = await read(
      pptxOf([
        { title: 'Welcome', body: ['one', 'two'], notes: 'Say hello.' },
        {
          title: 'Prices',
          body: [],
          table: [
            ['a', 'b'],
            ['1', '2'],
          ],
        },
      ]),
      { name: 'a.pptx' },
    );
    expect(title).toBe('Welcome');
    expect(blocks).toEqual([
      { kind: 'heading', level: 2, text: 'Welcome', page: 1 },
      { kind: 'text', text: 'one\ntwo', page: 1 },
      { kind: 'text', text: 'Say hello.', page: 1 },
      { kind: 'heading', level: 2, text: 'Prices', page: 2 },
      {
        kind: 'table',
        rows: [
          ['a', 'b'],
          ['1', '2'],
        ],
        page: 2,
      },
    ]);
  });

  it('workbooks returns sheets, with formatted dates', async () => {
    const sheet = `<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>inline</t></is></c></row><row/>
      <row><c r="A3" s="1"><v>45292</v></c><c r="B3" s="2"><v>45292.75</v></c><c r="C3" s="3"><v>1234.5</v></c><c r="D3" s="4"><v>0.25</v></c><c r="E3" s="5"><v>0.5</v></c><c r="F3" t="b"><v>1</v></c><c r="XFD3"><v>1</v></c></row>`;
    const { blocks } = await read(xlsxOf({ 'Prices 2024': sheet, Empty: '' }, { strings: ['shared &amp; text'] }), {
      name: 'a.xlsx',
    });
    expect(blocks).toEqual([
      { kind: 'heading', level: 2, text: 'Prices 2024' },
      {
        kind: 'table',
        rows: [
          ['shared & text', '', 'inline', '', '', ''],
          ['2024-01-01', '2024-01-01 18:00', '1234.5', '25%', '12:00', 'TRUE'],
        ],
      },
    ]);
    const old = await read(
      xlsxOf(
        { Old: '<row><c r="A1" s="1"><v>0</v></c><c r="B1"><v>1</v></c></row>' },
        { workbook: '<workbookPr date1904="1"/>' },
      ),
      { name: 'a.xlsx' },
    );
    expect(old.blocks).toContainEqual({ kind: 'table', rows: [['1904-01-01', '1']] });
  });

  it('PDFs returns pages, with headings by their size', async () => {
    const pages = [
      [
        { text: 'Returns', size: 20, y: 750 },
        { text: 'Goods can be sent back with-', y: 700 },
        { text: 'in thirty days.', y: 688 },
        { text: 'Another paragraph.', y: 640 },
      ],
      [{ text: 'On the second page.', y: 700 }],
    ];
    expect(await read(pdfOf(pages, { title: 'The title' }), { name: 'a.pdf', contentType: 'application/pdf' })).toEqual(
      {
        format: 'pdf',
        title: 'The title',
        language: null,
        page: null,
        blocks: [
          { kind: 'heading', level: 1, text: 'Returns', page: 1 },
          { kind: 'text', text: 'Goods can be sent back within thirty days.', page: 1 },
          { kind: 'text', text: 'Another paragraph.', page: 1 },
          { kind: 'text', text: 'On the second page.', page: 2 },
        ],
      },
    );
    expect((await read(pdfOf(pages, { title: 'Microsoft Word - x.docx' }), { name: 'a.pdf' })).title).toBe('Returns');
  });

  it('pages is chosen by the bytes, whatever type the server sends', async () => {
    const url = 'https://example.org/download.png';
    expect((await read(pdfOf([[{ text: 'x', y: 1 }]]), { url, contentType: 'text/html' })).format).toBe('pdf');
    for (const contentType of ['application/octet-stream', null, 'image/png', 'text/html'])
      expect((await read('<!DOCTYPE html><p>x', { url, contentType })).format).toBe('html');
    expect((await read('plain', { url, contentType: 'text/plain' })).format).toBe('text');
    expect((await read('# x', { url: 'https://example.org/a.md', contentType: 'text/plain' })).format).toBe('markdown');
    expect(
      (await read('<?xml version="1.0"?><!DOCTYPE html><html><p>x</html>', { url, contentType: null })).format,
    ).toBe('html');
    expect((await read('<html></html>', { url, contentType: 'text/html' })).blocks).toEqual([]);
  });
});

const PNG = Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001080600000000', 'hex');
const OLE = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
const ole = (part: string): Buffer => Buffer.concat([OLE, Buffer.from(part, 'utf16le')]);
const broken = docxOf(wordParagraph('x')).subarray(0, 300);
const scan = pdfOf([[]]);

describe('the parser refuses', () => {
  it.each<readonly [what: string, content: string | Buffer, name: string, reason: string, message: string]>([
    ['an empty file', '', 'a.txt', 'empty', '0 bytes'],
    ['an image that is named a PDF', PNG, 'x.pdf', 'type_mismatch', 'The file is named x.pdf but holds a PNG image.'],
    ['text that is named a PDF', 'hello', 'x.pdf', 'type_mismatch', 'The file is named x.pdf but holds text.'],
    ['a PDF that is named text', scan, 'x.txt', 'type_mismatch', 'holds a PDF document'],
    ['text that is named an image', 'hello', 'x.png', 'type_mismatch', 'holds text'],
    ['a workbook that is named a Word document', xlsxOf({}), 'x.docx', 'type_mismatch', 'holds an Excel workbook'],
    [
      'an image',
      PNG,
      'x.png',
      'unsupported_type',
      'It is a PNG image, which cannot be read. These can: text, Markdown, HTML, PDF, DOCX, PPTX, XLSX, CSV, JSON.',
    ],
    ['a zip archive', zipOf([{ name: 'a', content: 'b' }]), 'x.zip', 'unsupported_type', 'a ZIP archive'],
    [
      'a zip of zips that is named a Word document',
      zipOf([{ name: 'a.zip', content: zipOf([{ name: 'b.zip', content: 'x' }]) }]),
      'x.docx',
      'type_mismatch',
      'holds a ZIP archive',
    ],
    ['gzip', gzipSync('x'), 'x', 'unsupported_type', 'a gzip archive'],
    ['XML', '<?xml version="1.0"?><feed/>', 'x.xml', 'unsupported_type', 'XML'],
    [
      'bytes of no type',
      Buffer.from([1, 0, 2, 0, 0, 3, 255, 254, 0, 0, 0, 1, 2, 3]),
      'x',
      'unsupported_type',
      'data of an unknown type',
    ],
    ['an old Word document', ole('WordDocument'), 'x.doc', 'unsupported_type', 'an old Word document (.doc)'],
    ['an Office file with a password', ole('EncryptedPackage'), 'x.docx', 'encrypted', 'protected by a password'],
    [
      'an archive with a password',
      docxOf(wordParagraph('x'), { flags: 1 }),
      'x.docx',
      'encrypted',
      'protected by a password',
    ],
    [
      'a PDF with a password',
      pdfOf([[{ text: 'x', y: 1 }]], { encrypted: true }),
      'x.pdf',
      'encrypted',
      'The PDF is protected by a password.',
    ],
    ['a broken archive', broken, 'x.docx', 'broken', 'cannot be opened'],
    [
      'an archive with more data than its header declares',
      withWrongSize(docxOf(wordParagraph('x'.repeat(5_000))), 'word/document.xml', 10),
      'x.docx',
      'broken',
      'The file is broken',
    ],
    [
      'an archive with less data than its header declares',
      withWrongSize(docxOf(wordParagraph('x')), 'word/document.xml', 3_000_000_000),
      'x.docx',
      'broken',
      'The file is broken',
    ],
    [
      'XML that is nested too deep',
      docxOf('<w:p>'.repeat(200_000)),
      'x.docx',
      'broken',
      'nested more than 1000 levels deep',
    ],
    ['a broken PDF', '%PDF-1.7\nnothing else', 'x.pdf', 'broken', 'cannot be read as a PDF document'],
    ['broken JSON', '{"a": ', 'x.json', 'broken', 'not valid JSON'],
    ['a scan', scan, 'x.pdf', 'no_text', 'It may be a scan'],
    ['a text without text', ' \n \t ', 'x.txt', 'no_text', 'no text'],
  ])('%s', async (_, content, name, reason, message) => {
    await expect(read(content, { name })).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
  });

  it('a file that contradicts its content type, or has a format that was not requested', async () => {
    await expect(read(scan, { contentType: 'image/png' })).rejects.toMatchObject({
      reason: 'type_mismatch',
      message: expect.stringContaining('content type image/png but holds a PDF'),
    });
    await expect(read('{}', { name: 'x.json', formats: ['pdf', 'html'] })).rejects.toMatchObject({
      reason: 'unsupported_type',
      message: 'It is JSON, which cannot be read. These can: PDF, HTML.',
    });
    expect((await read('a,b\n1,2', { name: 'x.csv', contentType: 'application/vnd.ms-excel' })).format).toBe('csv');
  });
});

describe('a decompression bomb fails as too large', () => {
  it.each<readonly [what: string, content: () => Buffer, name: string]>([
    ['257 MB of zeros in a Word document', () => docxOf(Buffer.alloc(257 * 1024 * 1024)), 'x.docx'],
    ['a text of 21 million characters', () => docxOf(wordParagraph('a'.repeat(21_000_000))), 'x.docx'],
    [
      'a workbook of a billion cells',
      () => xlsxOf({ a: '<row><c r="SF1"><v>1</v></c></row>'.repeat(9_000) }),
      'x.xlsx',
    ],
    [
      'an archive of 21,000 parts',
      () => zipOf(Array.from({ length: 21_000 }, (_, index) => ({ name: `word/${index}`, content: '' }))),
      'x.docx',
    ],
    ['a table with one wide row', () => Buffer.from(`a${',x'.repeat(499)}\n${'1\n'.repeat(6_000)}`), 'x.csv'],
  ])('%s', async (_, content, name) => {
    await expect(read(content(), { name })).rejects.toMatchObject({ reason: 'too_large' });
  });

  it('but entities that a document declares are not expanded', async () => {
    const entities = Array.from(
      { length: 10 },
      (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
    ).join('');
    const { blocks } = await read(
      docxOf(`<!DOCTYPE d [<!ENTITY e0 "boom">${entities}]><w:p><w:r><w:t>before &e10; after</w:t></w:r></w:p>`),
      { name: 'x.docx' },
    );
    const text = JSON.stringify(blocks);
    expect(text).toContain('after');
    expect(text).not.toContain('boom boom');
    expect(text.length).toBeLessThan(2_000);
  });

  it('but a document that is only nested is read', async () => {
    expect((await read(`${'['.repeat(100_000)}"deep"${']'.repeat(100_000)}`, { name: 'x.json' })).blocks).toHaveLength(
      1,
    );
    expect(JSON.stringify((await read(`${'>'.repeat(20_000)} deep`, { name: 'x.md' })).blocks)).toContain('deep');
  });
});
