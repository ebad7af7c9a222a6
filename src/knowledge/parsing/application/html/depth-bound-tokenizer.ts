import { type QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** They hold text alone, so that they are not nested; without their tags, what is in them would be taken for text of the page. */
const TEXT_ALONE = new Set(['script', 'style', 'title', 'textarea', 'iframe', 'xmp', 'noembed', 'noframes']);

/**
 * A tokenizer that keeps tags from the parser whose elements would be nested too deep, and passes on what is in them.
 * The parser moves its whole stack for every element, and looks through it for every closing tag, so that the time for a
 * page that does nothing but open elements would grow with the square of its length.
 * @param html what the parser will be given, at once
 */
export function depthBoundTokenizer(html: string, isTooDeep: () => boolean): typeof Tokenizer {
  return class extends Tokenizer {
    constructor(options: ConstructorParameters<typeof Tokenizer>[0], parser: TokenizerCallbacks) {
      super(options, new ShallowTags(html, parser, isTooDeep));
    }
  };
}

class ShallowTags implements TokenizerCallbacks {
  /** Tags that were kept back and not closed yet, by name. */
  private readonly open = new Map<string, number>();
  private isKeptBack = false;

  constructor(
    private readonly html: string,
    private readonly parser: TokenizerCallbacks,
    private readonly isTooDeep: () => boolean,
  ) {}

  onopentagname(start: number, end: number): void {
    const name = this.nameAt(start, end);
    this.isKeptBack = this.isTooDeep() && !TEXT_ALONE.has(name);
    if (this.isKeptBack) this.open.set(name, (this.open.get(name) ?? 0) + 1);
    else this.parser.onopentagname(start, end);
  }

  /** One that closes a tag that was kept back must not close another of that name around it. */
  onclosetag(start: number, end: number): void {
    const name = this.open.size === 0 ? '' : this.nameAt(start, end);
    const count = this.open.get(name) ?? 0;
    if (count === 0) this.parser.onclosetag(start, end);
    else if (count === 1) this.open.delete(name);
    else this.open.set(name, count - 1);
  }

  onopentagend(end: number): void {
    if (!this.isKeptBack) this.parser.onopentagend(end);
    this.isKeptBack = false;
  }

  onselfclosingtag(end: number): void {
    if (!this.isKeptBack) this.parser.onselfclosingtag(end);
    this.isKeptBack = false;
  }

  onattribname(start: number, end: number): void {
    if (!this.isKeptBack) this.parser.onattribname(start, end);
  }

  onattribdata(start: number, end: number): void {
    if (!this.isKeptBack) this.parser.onattribdata(start, end);
  }

  onattribentity(codePoint: number): void {
    if (!this.isKeptBack) this.parser.onattribentity(codePoint);
  }

  onattribend(quote: QuoteType, end: number): void {
    if (!this.isKeptBack) this.parser.onattribend(quote, end);
  }

  ontext(start: number, end: number): void {
    this.parser.ontext(start, end);
  }

  ontextentity(codePoint: number, end: number): void {
    this.parser.ontextentity(codePoint, end);
  }

  oncdata(start: number, end: number, offset: number): void {
    this.parser.oncdata(start, end, offset);
  }

  oncomment(start: number, end: number, offset: number): void {
    this.parser.oncomment(start, end, offset);
  }

  ondeclaration(start: number, end: number): void {
    this.parser.ondeclaration(start, end);
  }

  onprocessinginstruction(start: number, end: number): void {
    this.parser.onprocessinginstruction(start, end);
  }

  onend(): void {
    this.parser.onend();
  }

  isInForeignContext(): boolean {
    return this.parser.isInForeignContext?.() ?? false;
  }

  private nameAt(start: number, end: number): string {
    return this.html.slice(start, end).toLowerCase();
  }
}
