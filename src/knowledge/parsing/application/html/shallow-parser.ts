import { type Handler, Parser } from 'htmlparser2';

/** They hold text alone, so that they are not nested; without their tags, what is in them would be taken for text of the page. */
const TEXT_ALONE = new Set(['script', 'style', 'title', 'textarea', 'iframe', 'xmp', 'noembed', 'noframes']);

/**
 * Leaves out the tags of elements that would be nested too deep, and reads on with what is in them. The parser moves its
 * whole stack for every element, and looks through it for every closing tag: the time for a page that does nothing but
 * open elements would grow with the square of its length.
 */
export class ShallowParser extends Parser {
  /** Elements whose tags were left out and not closed yet, by name. */
  private readonly leftOut = new Map<string, number>();

  /** @param html what `end` will be given, at once */
  constructor(
    private readonly html: string,
    handler: Partial<Handler>,
    private readonly isTooDeep: () => boolean,
  ) {
    super(handler);
  }

  /** The attributes of a tag that was not begun come to nothing. */
  override onopentagname(start: number, end: number): void {
    const name = this.nameAt(start, end);
    if (this.isTooDeep() && !TEXT_ALONE.has(name)) this.leftOut.set(name, (this.leftOut.get(name) ?? 0) + 1);
    else super.onopentagname(start, end);
  }

  /** A tag that closes an element that was left out must not close another of that name around it. */
  override onclosetag(start: number, end: number): void {
    const name = this.leftOut.size === 0 ? '' : this.nameAt(start, end);
    const count = this.leftOut.get(name) ?? 0;
    if (count === 0) super.onclosetag(start, end);
    else if (count === 1) this.leftOut.delete(name);
    else this.leftOut.set(name, count - 1);
  }

  private nameAt(start: number, end: number): string {
    return this.html.slice(start, end).toLowerCase();
  }
}
