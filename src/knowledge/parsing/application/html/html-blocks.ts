import { BlockList } from '../formats/block-list.js';
import { oneLine } from '../formats/text-of.js';

/** They stand in a line with what is around them; every other element stands for itself. */
const INLINE = new Set([
  ...['a', 'abbr', 'acronym', 'b', 'bdi', 'bdo', 'big', 'cite', 'code', 'data', 'del', 'dfn', 'em', 'font', 'i', 'img', 'ins', 'kbd', 'label'],
  ...['mark', 'q', 'rp', 'rt', 'ruby', 's', 'samp', 'small', 'span', 'strike', 'strong', 'sub', 'sup', 'time', 'tt', 'u', 'var', 'wbr', 'nobr'],
]);
/** A cell with more text is a part of a page that a table arranges. */
const MAX_DATA_CELL_CHARACTERS = 2_000;
const HEADING = /^h([1-6])$/;

interface OpenTable {
  rows: string[][];
  /** Where tables arrange a page, their cells are read like any other part of it. */
  isLayout: boolean;
  inCell: boolean;
}

/** Makes blocks of the elements and texts of an HTML document, which come one by one. */
export class HtmlBlocks {
  private line = '';
  /** Finished lines of the block in the making. */
  private lines: string[] = [];
  /** Of the list item that has begun, until its first text comes. */
  private mark = '';
  private lists: ('ul' | 'ol')[] = [];
  private numbers: number[] = [];
  private readonly tables: OpenTable[] = [];
  private pre = 0;
  private code = '';
  private ruby = 0;

  constructor(private readonly blocks: BlockList) {}

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'rp' || name === 'rt') this.ruby += 1;
    if (name === 'br') this.breakLine();
    else if (name === 'img') this.text(` ${attributes['alt'] ?? ''} `);
    if (INLINE.has(name) || name === 'br') return;
    if (name === 'pre') this.openPre();
    else if (name === 'table') this.openTable(attributes);
    else if (name === 'tr' && this.table) this.openRow(this.table);
    else if (name === 'td' || name === 'th') this.openCell();
    else if (name === 'ul' || name === 'ol') this.openList(name, attributes);
    else if (name === 'li') this.openItem();
    else if (this.goesOn(name)) this.breakLine();
    else this.flush();
  }

  text(text: string): void {
    if (this.ruby > 0) return;
    if (this.pre > 0) this.code += text;
    else this.line += text;
    BlockList.checkHeld(this.line.length + this.code.length);
  }

  close(name: string): void {
    if (name === 'rp' || name === 'rt') this.ruby -= 1;
    if (INLINE.has(name) || name === 'br') return;
    const level = HEADING.exec(name)?.[1];
    if (level !== undefined && !this.isInTable) this.closeHeading(Number(level));
    else if (name === 'pre') this.closePre();
    else if (name === 'table') this.closeTable();
    else if (name === 'td' || name === 'th') this.closeCell();
    else if (name === 'ul' || name === 'ol') this.closeList();
    else if (this.goesOn(name)) this.breakLine();
    else this.flush();
  }

  end(): void {
    while (this.tables.length > 0) this.closeTable();
    this.flush();
  }

  /** Whether an element of this name ends a line only, and not the block. */
  private goesOn(name: string): boolean {
    if (this.isInTable || name === 'dt' || name === 'dd') return true;
    return this.lists.length > 0 && !HEADING.test(name);
  }

  private get table(): OpenTable | undefined {
    return this.tables.at(-1);
  }

  private get isInTable(): boolean {
    return this.table?.isLayout === false;
  }

  private breakLine(): void {
    const line = this.pre > 0 ? '' : oneLine(this.line);
    if (this.pre > 0) this.code += '\n';
    else this.line = '';
    if (line === '') return;
    this.lines.push(`${this.mark}${line}`);
    this.mark = '';
  }

  private flush(): void {
    if (this.pre > 0) return;
    this.breakLine();
    this.blocks.text(this.lines.join('\n'));
    this.lines = [];
  }

  private closeHeading(level: number): void {
    this.breakLine();
    this.blocks.heading(level, this.lines.join(' '));
    this.lines = [];
  }

  private openPre(): void {
    if (!this.isInTable && this.pre === 0) this.flush();
    this.pre += 1;
  }

  private closePre(): void {
    this.pre = Math.max(0, this.pre - 1);
    if (this.pre > 0) return;
    // A list's code stands after the items before it.
    if (this.isInTable) this.line += this.code;
    else {
      this.flush();
      this.blocks.code(this.code);
    }
    this.code = '';
  }

  private openList(name: 'ul' | 'ol', { start }: Readonly<Record<string, string>>): void {
    if (this.lists.length === 0 && !this.isInTable) this.flush();
    else this.breakLine();
    this.lists.push(name);
    this.numbers.push(Number.parseInt(start ?? '', 10) || 1);
  }

  private openItem(): void {
    this.breakLine();
    const number = this.numbers.pop() ?? 1;
    this.numbers.push(number + 1);
    const mark = this.lists.at(-1) === 'ol' ? `${number}.` : '-';
    this.mark = `${'  '.repeat(Math.max(0, this.lists.length - 1))}${mark} `;
  }

  private closeList(): void {
    this.breakLine();
    this.lists.pop();
    this.numbers.pop();
    if (this.lists.length === 0 && !this.isInTable) this.flush();
  }

  private openTable({ role = '' }: Readonly<Record<string, string>>): void {
    const outer = this.table;
    if (outer && !outer.isLayout) this.makeLayout(outer);
    this.flush();
    this.tables.push({ rows: [], isLayout: /^(presentation|none)$/i.test(role), inCell: false });
  }

  /** What was read of it as a table becomes text. */
  private makeLayout(table: OpenTable): void {
    const before = [...table.rows.flat(), ...this.lines, this.line].map(oneLine).filter((text) => text !== '');
    this.line = '';
    this.lines = before;
    table.rows = [];
    table.isLayout = true;
  }

  private openRow(table: OpenTable): void {
    this.breakLine();
    if (!table.isLayout) table.rows.push([]);
  }

  private openCell(): void {
    if (this.table?.isLayout === false) {
      // A caption, or a cell that was not closed.
      this.closeCell();
      this.table.inCell = true;
    } else this.flush();
  }

  private closeCell(): void {
    const { table } = this;
    if (!table || table.isLayout) {
      this.flush();
      return;
    }
    this.breakLine();
    const text = this.lines.join('\n');
    this.lines = [];
    if (table.inCell) {
      if (table.rows.length === 0) table.rows.push([]);
      table.rows.at(-1)?.push(text);
    } else this.blocks.text(text);
    table.inCell = false;
  }

  private closeTable(): void {
    if (this.isInTable) this.closeCell();
    const table = this.tables.pop();
    if (table && !table.isLayout) this.addTable(table.rows);
    this.flush();
  }

  private addTable(rows: readonly (readonly string[])[]): void {
    const cells = rows.flat();
    if (cells.some((cell) => cell.length > MAX_DATA_CELL_CHARACTERS)) for (const cell of cells) this.blocks.text(cell);
    else this.blocks.table(rows);
  }
}
