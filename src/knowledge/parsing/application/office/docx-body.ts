import { BlockList } from '../formats/block-list.js';
import type { Attributes, XmlHandler } from './xml.js';
import { isOn } from './xml.js';

/** Their text is not part of what is read: alternatives of drawings, deleted text, instructions of fields. */
const SKIPPED = new Set(['Fallback', 'del', 'moveFrom', 'instrText', 'delInstrText', 'delText']);

interface Paragraph {
  text: string;
  level: number | undefined;
  isListed: boolean;
  indent: number;
}

interface Table {
  readonly rows: string[][];
  cell: string[] | undefined;
}

const newParagraph = (): Paragraph => ({ text: '', level: undefined, isListed: false, indent: 0 });

/** The text of a Word document's body in reading order. What stands in text boxes follows the paragraph that they are in. */
export class DocxBody implements XmlHandler {
  /** Paragraphs stand in paragraphs where a drawing holds text. */
  private readonly paragraphs: Paragraph[] = [];
  private readonly tables: Table[] = [];
  private list: string[] = [];
  private held = 0;
  private cells = 0;
  private skipped = 0;
  private isText = false;

  constructor(
    private readonly blocks: BlockList,
    private readonly headings: ReadonlyMap<string, number>,
  ) {}

  readonly open = (name: string, attributes: Attributes): void => {
    if (this.skipped > 0 || SKIPPED.has(name)) {
      this.skipped += 1;
      return;
    }
    const paragraph = this.paragraphs.at(-1);
    if (name === 'p') this.paragraphs.push(newParagraph());
    else if (name === 't') this.isText = true;
    else if (name === 'tbl') this.openTable();
    else if (name === 'tr') this.tables.at(-1)?.rows.push([]);
    else if (name === 'tc') this.openCell();
    else if (paragraph) this.describe(paragraph, name, attributes['w:val']);
  };

  readonly text = (text: string): void => {
    const paragraph = this.paragraphs.at(-1);
    if (!this.isText || this.skipped > 0 || !paragraph) return;
    this.held += text.length;
    BlockList.checkHeld(this.held);
    paragraph.text += text;
  };

  readonly close = (name: string): void => {
    if (this.skipped > 0) this.skipped -= 1;
    else if (name === 't') this.isText = false;
    else if (name === 'p') this.closeParagraph();
    else if (name === 'tc') this.closeCell();
    else if (name === 'tbl') this.closeTable();
    else if (name === 'body' || name === 'footnotes' || name === 'endnotes') this.endList();
  };

  private describe(paragraph: Paragraph, name: string, value: string | undefined): void {
    if (name === 'pStyle') paragraph.level ??= this.headings.get(value ?? '');
    else if (name === 'outlineLvl' && Number(value) < 6) paragraph.level = Number(value) + 1;
    else if (name === 'numPr') paragraph.isListed = true;
    else if (name === 'numId') paragraph.isListed = isOn(value);
    else if (name === 'ilvl') paragraph.indent = Math.min(8, Number(value) || 0);
    else if (name === 'tab') paragraph.text += '\t';
    else if (name === 'br' || name === 'cr') paragraph.text += '\n';
    else if (name === 'noBreakHyphen') paragraph.text += '-';
  }

  private closeParagraph(): void {
    const { text, level, isListed, indent } = this.paragraphs.pop() ?? newParagraph();
    if (text.trim() === '') return;
    const cell = this.tables.at(-1)?.cell;
    if (cell) cell.push(text.trim());
    else if (isListed && level === undefined) this.list.push(`${'  '.repeat(indent)}- ${text.trim()}`);
    else {
      this.endList();
      if (level === undefined) this.blocks.text(text);
      else this.blocks.heading(level, text);
    }
  }

  private endList(): void {
    this.blocks.text(this.list.join('\n'));
    this.list = [];
  }

  private openTable(): void {
    if (this.tables.length === 0) this.endList();
    this.tables.push({ rows: [], cell: undefined });
  }

  private openCell(): void {
    const table = this.tables.at(-1);
    if (table) table.cell = [];
  }

  private closeCell(): void {
    const table = this.tables.at(-1);
    table?.rows.at(-1)?.push((table.cell ?? []).join('\n'));
    if (table) table.cell = undefined;
    this.cells += 1;
    BlockList.checkCells(this.cells);
  }

  /** A table within a table is part of its cell. */
  private closeTable(): void {
    const rows = this.tables.pop()?.rows ?? [];
    const outer = this.tables.at(-1)?.cell;
    if (outer) outer.push(...rows.map((row) => row.join(' | ')));
    else this.blocks.table(rows);
  }
}
