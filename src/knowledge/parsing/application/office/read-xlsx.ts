import { MAX_COLUMNS } from '../../limits.js';
import { BlockList } from '../formats/block-list.js';
import type { FormatReader } from '../formats/reading.js';
import { Archive } from './archive.js';
import { type NumberFormats, readFormats } from './xlsx-formats.js';
import { type Attributes, isOn, readProperties, readXml, relationsOf, type XmlHandler } from './xml.js';

const WORKBOOK = 'xl/workbook.xml';

interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly member: string }[];
  /** Days are counted from 1904 and not from 1900, as in files of old Macs. */
  readonly from1904: boolean;
}

async function readWorkbook(archive: Archive): Promise<Workbook> {
  const relations = await relationsOf(archive, WORKBOOK);
  const sheets: { name: string; member: string }[] = [];
  let from1904 = false;
  await readXml(archive, WORKBOOK, {
    open: (name, attributes) => {
      if (name === 'workbookPr') from1904 = attributes['date1904'] !== undefined && isOn(attributes['date1904']);
      if (name !== 'sheet') return;
      const member = relations.get(attributes['r:id'] ?? '')?.target;
      const isHidden = /^(?:hidden|veryHidden)$/.test(attributes['state'] ?? '');
      if (member !== undefined && !isHidden) sheets.push({ name: attributes['name'] ?? '', member });
    },
  });
  return { sheets, from1904 };
}

async function readSharedStrings(archive: Archive): Promise<readonly string[]> {
  const strings: string[] = [];
  let [text, phonetic] = ['', 0];
  await readXml(archive, 'xl/sharedStrings.xml', {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic += 1;
    },
    text: (part) => {
      if (phonetic === 0) text += part;
    },
    close: (name) => {
      if (name === 'rPh') phonetic -= 1;
      else if (name === 'si') strings.push(text);
    },
  });
  return strings;
}

/** The rows of a sheet that are not empty, without hidden rows and columns. Empty rows before a distant cell take no memory. */
class Sheet implements XmlHandler {
  readonly rows: string[][] = [];
  private readonly hiddenColumns = new Set<number>();
  private isRowHidden = false;
  private row: string[] = [];
  private column = -1;
  private kind = '';
  private style = 0;
  private value = '';
  private held = 0;
  private cells = 0;

  constructor(
    private readonly strings: readonly string[],
    private readonly formats: NumberFormats,
  ) {}

  readonly open = (name: string, attributes: Attributes): void => {
    if (name === 'col') this.readColumns(attributes);
    else if (name === 'row') this.startRow(attributes);
    else if (name === 'c') this.startCell(attributes);
  };

  readonly text = (text: string): void => {
    this.value += text;
  };

  readonly close = (name: string): void => {
    if (name === 'c') this.endCell();
    else if (name === 'row' && this.row.length > 0) this.rows.push(this.visibleCells());
  };

  private readColumns({ min, max, hidden = '0' }: Attributes): void {
    if (!isOn(hidden)) return;
    for (let column = Number(min); column <= Math.min(MAX_COLUMNS, Number(max)); column += 1)
      this.hiddenColumns.add(column - 1);
  }

  private visibleCells(): string[] {
    return Array.from(this.row, (cell: string | undefined) => cell ?? '').filter(
      (_, column) => !this.hiddenColumns.has(column),
    );
  }

  private startRow({ hidden = '0' }: Attributes): void {
    this.isRowHidden = isOn(hidden);
    this.row = [];
    this.column = -1;
  }

  private startCell({ r, t = '', s }: Attributes): void {
    this.column = r === undefined ? this.column + 1 : columnOf(r);
    this.kind = t;
    this.style = Number(s) || 0;
    this.value = '';
  }

  private endCell(): void {
    const text = this.cellText();
    if (text === '' || this.isRowHidden || this.column >= MAX_COLUMNS) return;
    // The row also gets the empty cells before this one.
    this.cells += Math.max(0, this.column + 1 - this.row.length);
    BlockList.checkCells(this.cells);
    this.held += text.length;
    BlockList.checkHeld(this.held);
    this.row[this.column] = text;
  }

  private cellText(): string {
    switch (this.kind) {
      case 's':
        return this.strings[Number(this.value)] ?? '';
      case 'b':
        return this.value === '1' ? 'TRUE' : 'FALSE';
      case '':
      case 'n':
        return this.value === '' ? '' : this.formats.show(Number(this.value), this.style);
      default:
        return this.value;
    }
  }
}

/** 2 for `C7`. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? 'A') column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

export const readXlsx: FormatReader = async ({ content }) => {
  const archive = await Archive.open(content);
  if (!archive.has(WORKBOOK)) throw new Error(`The archive has no part ${WORKBOOK}`);
  const { sheets, from1904 } = await readWorkbook(archive);
  const strings = await readSharedStrings(archive);
  const formats = await readFormats(archive, from1904);
  const blocks = new BlockList();
  for (const { name, member } of sheets) {
    const sheet = new Sheet(strings, formats);
    await readXml(archive, member, sheet);
    if (sheet.rows.length === 0) continue;
    blocks.heading(2, name);
    blocks.table(sheet.rows);
  }
  const { title, language } = await readProperties(archive);
  return { title, language, blocks: blocks.blocks };
};
