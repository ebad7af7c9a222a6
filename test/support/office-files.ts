import { bytesOf, zipOf, type Member } from './zip-writer.js';

const TYPES: Member = { name: '[Content_Types].xml', content: '<?xml version="1.0"?><Types/>' };
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const core = (title: string): Member => ({
  name: 'docProps/core.xml',
  content: `<cp:coreProperties xmlns:cp="x" xmlns:dc="y"><dc:title>${title}</dc:title><dc:language>de-CH</dc:language></cp:coreProperties>`,
});

function relations(member: string, entries: readonly (readonly [id: string, type: string, target: string])[]): Member {
  const slash = member.lastIndexOf('/');
  const list = entries.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
  );
  return {
    name: `${member.slice(0, slash)}/_rels/${member.slice(slash + 1)}.rels`,
    content: `<Relationships>${list.join('')}</Relationships>`,
  };
}

/** @param body the XML within `w:body` */
export function docxOf(body: string | Buffer, { title = '', flags = 0, more = [] as readonly Member[] } = {}): Buffer {
  const document = Buffer.concat([
    Buffer.from('<w:document><w:body>'),
    bytesOf(body),
    Buffer.from('</w:body></w:document>'),
  ]);
  const styles = `<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="berschrift1"/></w:style>
    <w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>`;
  return zipOf([
    TYPES,
    { name: 'word/document.xml', content: document, flags },
    { name: 'word/styles.xml', content: styles },
    ...(title ? [core(title)] : []),
    ...more,
  ]);
}

export function wordParagraph(text: string, properties = ''): string {
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export interface SlideText {
  readonly title: string;
  readonly body: readonly string[];
  readonly notes?: string;
  readonly table?: readonly (readonly string[])[];
  readonly isHidden?: boolean;
}

const shape = (placeholder: string, paragraphs: readonly string[]): string =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr><p:txBody>${paragraphs.map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;

const slideTable = (rows: readonly (readonly string[])[]): string =>
  `<p:graphicFrame><a:tbl>${rows.map((row) => `<a:tr>${row.map((cell) => `<a:tc><a:txBody><a:p><a:r><a:t>${cell}</a:t></a:r></a:p></a:txBody></a:tc>`).join('')}</a:tr>`).join('')}</a:tbl></p:graphicFrame>`;

/** Its slides are stored in the reverse order of their numbers, as after a user has moved them. */
export function pptxOf(slides: readonly SlideText[]): Buffer {
  const member = (index: number): string => `slides/slide${slides.length - index}.xml`;
  return zipOf([
    TYPES,
    {
      name: 'ppt/presentation.xml',
      content: `<p:presentation><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${index}" r:id="r${index}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    },
    relations(
      'ppt/presentation.xml',
      slides.map((_, index) => [`r${index}`, 'slide', member(index)] as const),
    ),
    ...slides.flatMap(({ title, body, notes, table, isHidden = false }, index) => [
      {
        name: `ppt/${member(index)}`,
        content: `<p:sld${isHidden ? ' show="0"' : ''}>${shape('body', body)}${shape('title', [title])}${shape('sldNum', ['7'])}${table ? slideTable(table) : ''}</p:sld>`,
      },
      ...(notes === undefined
        ? []
        : [
            relations(`ppt/${member(index)}`, [['n', 'notesSlide', `../notesSlides/notes${index}.xml`]]),
            { name: `ppt/notesSlides/notes${index}.xml`, content: `<p:notes>${shape('body', [notes])}</p:notes>` },
          ]),
    ]),
  ]);
}

interface WorkbookParts {
  readonly strings?: readonly string[];
  readonly workbook?: string;
  readonly columns?: string;
  /** By the sheets' names. */
  readonly states?: Readonly<Record<string, string>>;
}

/** @param sheets the XML within `sheetData` by the sheets' names */
export function xlsxOf(
  sheets: Readonly<Record<string, string>>,
  { strings = [], workbook = '', columns = '', states = {} }: WorkbookParts = {},
): Buffer {
  const names = Object.keys(sheets);
  return zipOf([
    TYPES,
    {
      name: 'xl/workbook.xml',
      content: `<workbook>${workbook}<sheets>${names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" state="${states[name] ?? 'visible'}" r:id="r${index}"/>`).join('')}</sheets></workbook>`,
    },
    relations(
      'xl/workbook.xml',
      names.map((_, index) => [`r${index}`, 'worksheet', `/xl/worksheets/sheet${index + 1}.xml`] as const),
    ),
    ...names.map((name, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      content: `<worksheet><cols>${columns}</cols><sheetData>${sheets[name]}</sheetData></worksheet>`,
    })),
    {
      name: 'xl/sharedStrings.xml',
      content: `<sst>${strings.map((text) => `<si><r><t>${text}</t></r><rPh><t>reading</t></rPh></si>`).join('')}</sst>`,
    },
    {
      name: 'xl/styles.xml',
      content: `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165" formatCode="[$-409]#,##0.00&quot; days&quot;"/></numFmts>
        <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="9"/><xf numFmtId="20"/><xf numFmtId="46"/></cellXfs></styleSheet>`,
    },
  ]);
}
