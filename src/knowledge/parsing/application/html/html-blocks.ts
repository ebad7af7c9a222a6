import { BlockList } from '../formats/block-list.js';
import { oneLine, wordSet } from '../formats/clean-text.js';
import { isCallToFollow } from './call-to-follow.js';
import { isLayout, rowsOf } from './html-table.js';
import { type HtmlElement, type HtmlTree, isHidden, textIn } from './html-tree.js';
import { mathText } from './math-text.js';

/** Inline elements. Every other element is a block. */
const INLINE = wordSet(
  'a abbr acronym b bdi bdo big button cite code data del dfn em font i input ins kbd label mark nobr output q ' +
    'ruby s samp small span strike strong sub sup time tt u var wbr',
);
const HEADING = /^h([1-6])$/;
const NOTE = /^(?:note|notice|warning|tip|caution|important|admonition|callout|alert)(?:block)?$/;
const MAX_INDENT = 10;
const MAX_TERM_CHARACTERS = 500;
const MAX_ANCHOR_CHARACTERS = 200;

export class HtmlBlocks {
  private line = '';
  /** Finished lines of the current block. */
  private lines: string[] = [];
  /** The bullet or number of the current list item, until its first line is finished. */
  private mark = '';
  private readonly lists: { readonly isOrdered: boolean; next: number }[] = [];
  /** In a table cell or a heading, whose content is one text without blocks. */
  private isOneText = false;
  private notes = 0;
  private anchor: string | undefined;

  /**
   * @param tabs names of tab panels
   * @param addressOf the target of a link as it is shown in the text; null if it is not shown
   */
  constructor(
    private readonly blocks: BlockList,
    private readonly tabs: HtmlTree['tabs'],
    private readonly addressOf: (href: string) => string | null,
  ) {}

  /** Adds the element as one or more separate blocks. */
  add(element: HtmlElement): void {
    this.breakBlock();
    this.addChildren(element);
    this.breakBlock();
  }

  private addChildren(element: HtmlElement): void {
    const isNote = !INLINE.has(element.name) && element.names.some((name) => NOTE.test(name));
    if (isNote) this.notes += 1;
    for (const child of element.children) {
      if (typeof child === 'string') this.text(child);
      else if (child.isLeftOut) continue;
      else if (child.name === 'button') this.button(child, element);
      else this.element(child);
    }
    if (isNote) this.notes -= 1;
  }

  private element(element: HtmlElement): void {
    const { name, attributes, role } = element;
    this.updateAnchor(element);
    const level = HEADING.exec(name)?.[1] ?? (role === 'heading' ? (attributes['aria-level'] ?? '2') : undefined);
    if (level !== undefined && !this.isOneText) this.heading(element, Number.parseInt(level, 10) || 2);
    else if (name === 'br') this.breakLine();
    else if (name === 'img') this.text(` ${attributes['alt'] ?? ''} `);
    else if (name === 'a') this.link(element);
    else if (name === 'math') this.text(` ${mathText(element)} `);
    else if (name === 'rt' || name === 'rp') return;
    else if (INLINE.has(name)) this.addChildren(element);
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
    else if (label !== undefined && !this.isInText) this.addUnder(label, element);
    else if (this.isOneText || (this.lists.length > 0 && name !== 'table')) {
      this.breakLine();
      this.addChildren(element);
      this.breakLine();
    } else this.add(element);
  }

  private get isInText(): boolean {
    return this.isOneText || this.lists.length > 0;
  }

  private text(text: string): void {
    // The anchor before the block's first text is the nearest.
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

  /** The content of an element as one text, without changing the current block. */
  private flatText(element: HtmlElement): string {
    const inner = new HtmlBlocks(new BlockList(), this.tabs, this.addressOf);
    inner.isOneText = true;
    inner.anchor = this.anchor;
    inner.addChildren(element);
    inner.breakLine();
    this.anchor = inner.anchor;
    return inner.lines.join('\n');
  }

  private heading(element: HtmlElement, level: number): void {
    this.breakBlock();
    const text = oneLine(this.flatText(element));
    this.blocks.anchor = this.anchor;
    // A heading in a note or in a definition does not apply to what follows the note or the definition.
    if (this.notes === 0 && this.blocks.term === undefined) this.blocks.heading(level, text);
    else this.blocks.text(/[\p{L}\p{N}]$/u.test(text) ? `${text}:` : text);
  }

  private link(element: HtmlElement): void {
    const start = this.line.length;
    this.addChildren(element);
    const { href } = element.attributes;
    if (href === undefined) return;
    const text = this.line.slice(start).trim();
    const isMail = /^mailto:/i.test(href);
    if (isMail ? text.includes('@') : !isCallToFollow(text)) return;
    const address = this.addressOf(href);
    if (address !== null && text !== '') this.line = `${this.line.trimEnd()} (${address})`;
  }

  /** Keeps the text of a button within a sentence, and of one that opens a part of the content. Other buttons are actions. */
  private button(button: HtmlElement, parent: HtmlElement): void {
    if (this.isOneText || /^(?:p|li|dd)$/.test(parent.name)) this.addChildren(button);
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
    const rows = rowsOf(element, (cell) => this.flatText(cell));
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
    this.addChildren(element);
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
    this.addChildren(element);
    this.breakLine();
    this.mark = '';
  }

  private definitions(list: HtmlElement): void {
    this.breakBlock();
    let terms: string[] = [];
    for (const part of partsOf(list)) {
      if (typeof part === 'string') this.text(part);
      else if (part.name === 'dt') {
        this.updateAnchor(part);
        this.blocks.anchor = this.anchor;
        terms.push(oneLine(this.flatText(part)));
      } else if (part.letters > 0) {
        this.addUnder(terms.join(', '), part);
        terms = [];
      }
    }
    this.breakBlock();
    this.blocks.text(terms.join('\n'));
  }

  private details(element: HtmlElement): void {
    const summary = element.elements.find(({ name }) => name === 'summary');
    if (!summary || summary.letters === element.letters) return this.add(element);
    const term = this.flatText(summary);
    summary.isLeftOut = true;
    this.addUnder(term, element);
  }

  private addUnder(term: string, element: HtmlElement): void {
    this.breakBlock();
    const outer = this.blocks.term;
    this.blocks.term =
      [outer ?? '', oneLine(term)]
        .filter((part) => part !== '')
        .join(' › ')
        .slice(0, MAX_TERM_CHARACTERS)
        .toWellFormed() || undefined;
    this.updateAnchor(element);
    if (/^(?:dd|details)$/.test(element.name) || element.role === 'tabpanel') this.add(element);
    else this.element(element);
    this.breakBlock();
    this.blocks.term = outer;
  }

  private updateAnchor(element: HtmlElement): void {
    const { name, attributes } = element;
    if (name === 'dialog' || isHidden(element)) return;
    const anchor = (attributes['id'] ?? (name === 'a' ? attributes['name'] : undefined))?.trim() ?? '';
    if (anchor !== '' && anchor.length <= MAX_ANCHOR_CHARACTERS && !/\s/.test(anchor))
      this.anchor = anchor.toWellFormed();
  }
}

/** Terms and definitions, also those grouped in `div` elements. */
function partsOf(list: HtmlElement): readonly (HtmlElement | string)[] {
  const parts = list.children.flatMap((child) =>
    typeof child !== 'string' && child.name === 'div' && !child.isLeftOut ? child.children : [child],
  );
  return parts.filter((part) => typeof part === 'string' || !part.isLeftOut);
}

/** The text of a `pre` element. Its block elements, which some highlighters use for lines, are separate lines. */
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
