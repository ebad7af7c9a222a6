import { type Handler, Parser } from 'htmlparser2';

/** Elements that contain only text. Without their tags it would be read as text of the page. */
const TEXT_ALONE = new Set(['script', 'style', 'title', 'textarea', 'iframe', 'xmp', 'noembed', 'noframes']);

/**
 * Leaves out the tags of elements that are nested too deep, and keeps their content. The parser moves its whole stack for
 * every element and searches it for every closing tag, so a page of opening tags alone would take quadratic time.
 */
export class ShallowParser extends Parser {
  /** The number of open elements whose tags were left out, by name. */
  private readonly leftOut = new Map<string, number>();

  /** @param html the whole document, which the caller passes to `end` */
  constructor(
    private readonly html: string,
    handler: Partial<Handler>,
    private readonly isTooDeep: () => boolean,
  ) {
    super(handler);
  }

  /** Without this call the parser ignores the tag's attributes and end. */
  override onopentagname(start: number, end: number): void {
    const name = this.nameAt(start, end);
    if (this.isTooDeep() && !TEXT_ALONE.has(name)) this.leftOut.set(name, (this.leftOut.get(name) ?? 0) + 1);
    else super.onopentagname(start, end);
  }

  /** The closing tag of an element that was left out must not close an outer element of the same name. */
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
