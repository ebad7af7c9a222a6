import { BlockList } from '../formats/block-list.js';
import { oneLine } from '../formats/text-of.js';
import { isCallToFollow } from './call-to-follow.js';
import { isLayout, rowsOf } from './html-table.js';
import { type HtmlElement, type HtmlTree, isHidden, textIn } from './html-tree.js';
import { mathText } from './math-text.js';

/** They stand in a line with what is around them; every other element stands for itself. */
const INLINE = new Set([
  ...[
    'a',
    'abbr',
    'acronym',
    'b',
    'bdi',
    'bdo',
    'big',
    'button',
    'cite',
    'code',
    'data',
    'del',
    'dfn',
    'em',
    'font',
    'i',
    'input',
    'ins',
    'kbd',
    'label',
    'mark',
    'nobr',
  ],
  ...[
    'output',
    'q',
    'ruby',
    's',
    'samp',
    'small',
    'span',
    'strike',
    'strong',
    'sub',
    'sup',
    'time',
    'tt',
    'u',
    'var',
    'wbr',
  ],
]);
const HEADING = /^h([1-6])$/;
const NOTE = /^(?:note|notice|warning|tip|caution|important|admonition|callout|alert)(?:block)?$/;
const MAX_INDENT = 10;
const MAX_TERM_CHARACTERS = 500;
const MAX_ANCHOR_CHARACTERS = 200;

/** Makes blocks of the elements of an HTML document. */
export class HtmlBlocks {
  private line = '';
  /** Finished lines of the block in the making. */
  private lines: string[] = [];
  /** Of the list item that has begun, until its first text comes. */
  private mark = '';
  private readonly lists: { readonly isOrdered: boolean; next: number }[] = [];
  /** In a table's cell or a heading, where everything is one text. */
  private isOneText = false;
  /** Notes around. */
  private notes = 0;
  private anchor: string | undefined;

  /**
   * @param tabs what panels are called
   * @param addressOf where a link leads to; null where that says nothing to a reader
   */
  constructor(
    private readonly blocks: BlockList,
    private readonly tabs: HtmlTree['tabs'],
    private readonly addressOf: (href: string) => string | null,
  ) {}

  /** The element as a block of its own, or several. */
  add(element: HtmlElement): void {
    this.breakBlock();
    this.within(element);
    this.breakBlock();
  }

  private within(element: HtmlElement): void {
    const isNote = !INLINE.has(element.name) && element.names.some((name) => NOTE.test(name));
    if (isNote) this.notes += 1;
    this.children(element);
    if (isNote) this.notes -= 1;
  }

  private children(element: HtmlElement): void {
    for (const child of element.children) {
      if (typeof child === 'string') this.text(child);
      else if (child.isLeftOut) continue;
      else if (child.name === 'button') this.button(child, element);
      else this.element(child);
    }
  }

  private element(element: HtmlElement): void {
    const { name, attributes, role } = element;
    this.noteAnchor(element);
    const level = HEADING.exec(name)?.[1] ?? (role === 'heading' ? (attributes['aria-level'] ?? '2') : undefined);
    if (level !== undefined && !this.isOneText) this.heading(element, Number.parseInt(level, 10) || 2);
    else if (name === 'br') this.breakLine();
    else if (name === 'img') this.text(` ${attributes['alt'] ?? ''} `);
    else if (name === 'a') this.link(element);
    else if (name === 'math') this.text(` ${mathText(element)} `);
    else if (name === 'rt' || name === 'rp') return;
    else if (INLINE.has(name)) this.within(element);
    else this.block(element);
  }

  private block(element: HtmlElement): void {
    const { name } = element;
    const label =
      element.role === 'tabpanel'
        ? (this.tabs.get(element.attributes['id'] ?? '-') ??
          this.tabs.get(element.attributes['aria-labelledby'] ?? '-'))
        : undefined;
    if (name === 'pre' && !this.isOneText) this.code(element);
    else if (name === 'table' && !this.isOneText && !isLayout(element)) this.table(element);
    else if (name === 'ul' || name === 'ol' || name === 'menu') this.list(element);
    else if (name === 'li') this.item(element);
    else if (name === 'dl' && !this.isInText) this.definitions(element);
    else if (name === 'details' && !this.isInText) this.details(element);
    else if (label !== undefined && !this.isInText) this.under(label, element);
    else if (this.isOneText || (this.lists.length > 0 && name !== 'table')) {
      this.breakLine();
      this.within(element);
      this.breakLine();
    } else this.add(element);
  }

  private get isInText(): boolean {
    return this.isOneText || this.lists.length > 0;
  }

  private text(text: string): void {
    // What a block begins with says which anchor is the nearest.
    if (this.line === '' && this.lines.length === 0) this.blocks.anchor = this.anchor;
    this.line += this.line === '' ? text.trimStart() : text;
    BlockList.checkHeld(this.line.length);
  }

  private breakLine(): void {
    const line = oneLine(this.line);
    this.line = '';
    if (line === '') return;
    this.lines.push(`${this.mark}${line}`);
    this.mark = '';
  }

  private breakBlock(): void {
    this.breakLine();
    this.blocks.text(this.lines.join('\n'));
    this.lines = [];
  }

  /** The text of an element apart from the block in the making, where it is all one text. */
  private textOf(element: HtmlElement): string {
    const inner = new HtmlBlocks(new BlockList(), this.tabs, this.addressOf);
    inner.isOneText = true;
    inner.anchor = this.anchor;
    inner.within(element);
    inner.breakLine();
    this.anchor = inner.anchor;
    return inner.lines.join('\n');
  }

  private heading(element: HtmlElement, level: number): void {
    this.breakBlock();
    const text = oneLine(this.textOf(element));
    this.blocks.anchor = this.anchor;
    // What follows a note, or the definition of a term, is not under the heading in it.
    if (this.notes === 0 && this.blocks.term === undefined) this.blocks.heading(level, text);
    else this.blocks.text(/[\p{L}\p{N}]$/u.test(text) ? `${text}:` : text);
  }

  private link(element: HtmlElement): void {
    const start = this.line.length;
    this.within(element);
    const { href } = element.attributes;
    if (href === undefined) return;
    const text = this.line.slice(start).trim();
    const isMail = /^mailto:/i.test(href);
    if (isMail ? text.includes('@') : !isCallToFollow(text)) return;
    const address = this.addressOf(href);
    if (address !== null && text !== '') this.line = `${this.line.trimEnd()} (${address})`;
  }

  /** In a sentence it is a word; one that opens a part of the content is called like it; any other does something. */
  private button(button: HtmlElement, parent: HtmlElement): void {
    if (this.isOneText || /^(?:p|li|dd)$/.test(parent.name)) this.within(button);
    else if (button.attributes['aria-controls'] !== undefined || button.attributes['aria-expanded'] !== undefined)
      this.add(button);
  }

  private code(element: HtmlElement): void {
    this.breakBlock();
    this.blocks.anchor = this.anchor;
    this.blocks.code(codeIn(element));
  }

  private table(element: HtmlElement): void {
    this.breakBlock();
    const { anchor } = this;
    const rows = rowsOf(element, (cell) => this.textOf(cell));
    this.blocks.anchor = anchor;
    this.blocks.table(rows);
  }

  private list(element: HtmlElement): void {
    if (this.isInText) this.breakLine();
    else this.breakBlock();
    this.lists.push({
      isOrdered: element.name === 'ol',
      next: Number.parseInt(element.attributes['start'] ?? '', 10) || 1,
    });
    this.within(element);
    this.breakLine();
    this.lists.pop();
    if (!this.isInText) this.breakBlock();
  }

  private item(element: HtmlElement): void {
    this.breakLine();
    const list = this.lists.at(-1);
    const indent = '  '.repeat(Math.min(MAX_INDENT, Math.max(0, this.lists.length - 1)));
    this.mark = `${indent}${list?.isOrdered === true ? `${list.next}.` : '-'} `;
    if (list) list.next += 1;
    this.within(element);
    this.breakLine();
    this.mark = '';
  }

  /** What terms stand for goes under them. */
  private definitions(list: HtmlElement): void {
    this.breakBlock();
    let terms: string[] = [];
    for (const part of partsOf(list)) {
      if (typeof part === 'string') this.text(part);
      else if (part.name === 'dt') {
        this.noteAnchor(part);
        this.blocks.anchor = this.anchor;
        terms.push(oneLine(this.textOf(part)));
      } else if (part.letters > 0) {
        this.under(terms.join(', '), part);
        terms = [];
      }
    }
    this.breakBlock();
    this.blocks.text(terms.join('\n'));
  }

  private details(element: HtmlElement): void {
    const summary = element.elements.find(({ name }) => name === 'summary');
    if (!summary || summary.letters === element.letters) {
      this.add(element);
      return;
    }
    const term = this.textOf(summary);
    summary.isLeftOut = true;
    this.under(term, element);
  }

  private under(term: string, element: HtmlElement): void {
    this.breakBlock();
    const outer = this.blocks.term;
    this.blocks.term =
      [outer ?? '', oneLine(term)]
        .filter((part) => part !== '')
        .join(' › ')
        .slice(0, MAX_TERM_CHARACTERS)
        .toWellFormed() || undefined;
    this.noteAnchor(element);
    if (/^(?:dd|details)$/.test(element.name) || element.role === 'tabpanel') this.add(element);
    else this.element(element);
    this.breakBlock();
    this.blocks.term = outer;
  }

  private noteAnchor(element: HtmlElement): void {
    const { name, attributes } = element;
    if (name === 'dialog' || isHidden(element)) return;
    const anchor = (attributes['id'] ?? (name === 'a' ? attributes['name'] : undefined))?.trim() ?? '';
    if (anchor !== '' && anchor.length <= MAX_ANCHOR_CHARACTERS && !/\s/.test(anchor))
      this.anchor = anchor.toWellFormed();
  }
}

/** Terms and what they stand for, also where they are grouped. */
function partsOf(list: HtmlElement): readonly (HtmlElement | string)[] {
  const parts = list.children.flatMap((child) =>
    typeof child !== 'string' && child.name === 'div' && !child.isLeftOut ? child.children : [child],
  );
  return parts.filter((part) => typeof part === 'string' || !part.isLeftOut);
}

/** Lines that are elements stay lines. */
function codeIn(element: HtmlElement): string {
  let code = '';
  for (const child of element.children) {
    if (typeof child === 'string') code += child;
    else if (child.isLeftOut) continue;
    else if (child.name === 'br') code += '\n';
    else if (child.name === 'math') code += textIn(child);
    else if (INLINE.has(child.name)) code += child.name === 'button' ? '' : codeIn(child);
    else code = `${code}${code === '' || code.endsWith('\n') ? '' : '\n'}${codeIn(child).replace(/\n$/, '')}\n`;
  }
  return code;
}
