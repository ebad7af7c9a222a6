import { describe, expect, it } from '@jest/globals';
import { read } from '../../../../../test/support/documents.js';
import { docxOf, pptxOf, wordParagraph, xlsxOf } from '../../../../../test/support/office-files.js';
import type { Member } from '../../../../../test/support/zip-writer.js';
import type { Block } from '../../domain/parsed-document.js';

const linesOf = (blocks: readonly Block[]): readonly string[] =>
  blocks.flatMap((block) =>
    block.kind === 'table' ? block.rows.map((row) => row.join(' | ')) : block.text.split('\n'),
  );
const numbered = (text: string, id: number, level = 0): string =>
  wordParagraph(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${id}"/></w:numPr>`);
const styled = (text: string, style: string): string => wordParagraph(text, `<w:pStyle w:val="${style}"/>`);
const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const level = (at: number, format: string, text: string, more = ''): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;

const NUMBERING: Member = {
  name: 'word/numbering.xml',
  content: `<w:numbering>
    <w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1', '<w:pStyle w:val="H1"/>')}${level(1, 'decimal', '%1.%2', '<w:pStyle w:val="H2"/>')}</w:abstractNum>
    <w:abstractNum w:abstractNumId="1">${level(0, 'decimal', '%1.')}${level(1, 'lowerLetter', '%2)')}${level(2, 'upperRoman', '%3.')}</w:abstractNum>
    <w:abstractNum w:abstractNumId="2">${level(0, 'bullet', '\uf0b7')}</w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
    <w:num w:numId="4"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`,
};
const style = (id: string, name: string, properties: string): string =>
  `<w:style w:styleId="${id}"><w:name w:val="${name}"/>${properties}</w:style>`;
const STYLES: Member = {
  name: 'word/styles.xml',
  content: `<w:styles>
    ${style('H1', 'heading 1', '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')}${style('H2', 'heading 2', '<w:basedOn w:val="H1"/>')}
    ${style('Ghost', 'Ghost', '<w:rPr><w:vanish/></w:rPr>')}${style('Heir', 'Heir', '<w:basedOn w:val="Ghost"/>')}${style('Verzeichnis1', 'toc 1', '')}
    ${style('Outlined', 'Outlined', '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')}</w:styles>`,
};
const docx = (...body: readonly string[]): Buffer => docxOf(body.join(''), { more: [STYLES, NUMBERING] });

describe('in a Word document', () => {
  it.each<readonly [what: string, body: readonly string[], lines: readonly string[]]>([
    [
      'headings keep the numbers of their styles',
      [styled('Scope', 'H1'), styled('Fees', 'H1'), styled('Late', 'H2'), styled('Early', 'H2'), styled('End', 'H1')],
      ['1 Scope', '2 Fees', '2.1 Late', '2.2 Early', '3 End'],
    ],
    [
      'lists keep their numbers, letters and bullets',
      [
        numbered('a', 2),
        numbered('b', 2, 1),
        numbered('c', 2, 2),
        numbered('d', 2, 1),
        numbered('e', 2),
        numbered('f', 2, 1),
        numbered('g', 3),
      ],
      ['1. a', '  a) b', '    I. c', '  b) d', '2. e', '  a) f', '- g'],
    ],
    [
      'a list continues after other text, and restarts where it declares so',
      [numbered('a', 2), wordParagraph('x'), numbered('b', 2), wordParagraph('y'), numbered('c', 4), numbered('d', 4)],
      ['1. a', 'x', '2. b', 'y', '1. c', '2. d'],
    ],
    [
      'deleted items are not counted',
      [
        numbered('a', 2),
        `<w:p><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr><w:del>${run('old')}</w:del></w:p>`,
        numbered('b', 2),
      ],
      ['1. a', '2. b'],
    ],
    [
      'paragraphs with an outline level are headings',
      [styled('By style', 'Outlined'), wordParagraph('By itself', '<w:outlineLvl w:val="7"/>')],
      ['By style', 'By itself'],
    ],
    [
      'hidden text is left out, hidden by itself or by a style',
      [
        `<w:p>${run('seen ')}${run('hidden', '<w:vanish/>')}${run('hidden', '<w:rStyle w:val="Heir"/>')}${run('too', '<w:vanish w:val="0"/>')}</w:p>`,
        styled('hidden', 'Heir'),
      ],
      ['seen too'],
    ],
    [
      'text whose paragraph mark alone is hidden is read',
      [wordParagraph('seen', '<w:rPr><w:vanish/></w:rPr>')],
      ['seen'],
    ],
    [
      'text boxes in hidden text are left out, others follow their paragraph',
      [
        `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:txbxContent>${wordParagraph('hidden')}</w:txbxContent></w:r></w:p>`,
        `<w:p>${run('around')}<w:r><w:txbxContent>${wordParagraph('boxed')}</w:txbxContent></w:r></w:p>`,
      ],
      ['boxed', 'around'],
    ],
    [
      'deleted and moved text and former properties are left out',
      [
        `<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val="H1"/></w:pPr></w:pPrChange></w:pPr>${run('new')}<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom>${run('moved')}</w:moveFrom></w:p>`,
      ],
      ['new'],
    ],
    ['tables of contents are left out', [styled('Fees 7', 'Verzeichnis1'), wordParagraph('text')], ['text']],
  ])('%s', async (_, body, lines) => {
    expect(linesOf((await read(docx(...body), { name: 'x.docx' })).blocks)).toEqual(lines);
  });

  it('styles that are based on each other in a circle are read', async () => {
    const styles: Member = {
      name: 'word/styles.xml',
      content: `<w:styles>${style('A', 'A', '<w:basedOn w:val="B"/>')}${style('B', 'B', '<w:basedOn w:val="A"/>')}</w:styles>`,
    };
    expect((await read(docxOf(styled('text', 'A'), { more: [styles] }), { name: 'x.docx' })).blocks).toEqual([
      { kind: 'text', text: 'text' },
    ]);
  });
});

const cell = (reference: string, text: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`;

describe('in a workbook', () => {
  it('hidden rows and columns are left out', async () => {
    const rows = `<row>${cell('A1', 'a')}${cell('B1', 'hidden')}${cell('C1', 'c')}</row><row hidden="1">${cell('A2', 'hidden')}</row><row hidden="0">${cell('A3', 'd')}${cell('C3', 'f')}</row>`;
    const { blocks } = await read(
      xlsxOf({ Shown: rows }, { columns: '<col min="2" max="2" hidden="1"/><col min="3" max="16384"/>' }),
      { name: 'x.xlsx' },
    );
    expect(linesOf(blocks)).toEqual(['Shown', 'a | c', 'd | f']);
  });

  it.each(['hidden', 'veryHidden'])('a sheet that is %s is left out', async (state) => {
    const { blocks } = await read(
      xlsxOf(
        { Shown: `<row>${cell('A1', 'seen')}</row>`, Secret: `<row>${cell('A1', 'salaries')}</row>` },
        { states: { Secret: state } },
      ),
      { name: 'x.xlsx' },
    );
    expect(linesOf(blocks)).toEqual(['Shown', 'seen']);
  });
});

describe('in a presentation', () => {
  it('hidden slides and their notes are left out, and the others keep their numbers', async () => {
    const { title, blocks } = await read(
      pptxOf([
        { title: 'Draft', body: ['hidden'], notes: 'hidden', isHidden: true },
        { title: 'Prices', body: ['ten'] },
      ]),
      { name: 'x.pptx' },
    );
    expect(title).toBe('Prices');
    expect(blocks).toEqual([
      { kind: 'heading', level: 2, text: 'Prices', page: 2 },
      { kind: 'text', text: 'ten', page: 2 },
    ]);
  });
});
